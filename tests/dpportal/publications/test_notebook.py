"""The notebook of a bundle: the same cells as a script and for Jupyter, and the margins that it works out."""

from __future__ import annotations

import ast
import json
import re
import runpy
import zipfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import nbformat
import pytest

from dpportal.publications.notebook import JUPYTER, READING, SCRIPT, notebook_files
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace
from mechanisms.noise.sum_quantiles import PlainSum
from mechanisms.tabular.notebook import jupyter
from mechanisms.verify.notebooks import KNOWN

TEMPLATES = Path(__file__).resolve().parents[3] / "templates"
TEMPLATE = "releases/histogram/notebook.py"


def run(bundle: Path, folder: Path) -> dict[str, object]:
    """What the script of a bundle leaves, which ends with an error where a margin is another one."""
    if not folder.exists():
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(folder)
    matplotlib.use("Agg")
    [script] = folder.rglob(SCRIPT)
    try:
        return runpy.run_path(str(script))
    finally:
        plt.close("all")


@pytest.mark.slow
def test_both_have_the_same_cells(tmp_path):
    files = notebook_files(tmp_path, TEMPLATE)
    assert [file.name for file in files] == [SCRIPT, JUPYTER]
    notebook = nbformat.from_dict(json.loads((tmp_path / JUPYTER).read_text(encoding="utf-8")))
    nbformat.validate(notebook)
    script = (tmp_path / SCRIPT).read_text(encoding="utf-8")
    codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert len(codes) >= 4 and all(code in script for code in codes)
    assert notebook.cells[0].source.startswith("# Reading a release")


def test_marks_of_cells_are_no_part_of_them():
    [about, code] = jupyter("# %% [markdown]\n# # Title\n#\n# Text\n\n# %%\nx = 1\n")["cells"]
    assert (about["source"], code["source"]) == ("# Title\n\nText", "x = 1")


@pytest.mark.slow
def test_margins_are_those_of_the_noise(tmp_path):
    """Against the portal's own, which are proved elsewhere, for narrow and wide noise and for sums."""
    source = notebook_files(tmp_path, TEMPLATE)[0].path.read_text(encoding="utf-8")
    (tmp_path / "release.json").write_text('{"title": "", "statement": "", "plan": {}}')
    (tmp_path / "reading.py").write_text(source.split("# ## The counts")[0])
    worked_out = runpy.run_path(str(tmp_path / "reading.py"))["half_width"]
    for law in (
        DiscreteLaplace(Fraction(1, 9)),
        DiscreteLaplace(Fraction(40)),
        DiscreteGaussian(Fraction(50)),
    ):
        for terms in (1, 2, 7, 100):
            assert worked_out(law.to_json(), terms) == PlainSum(law, terms).half_width()
    wide = {"law": "discrete-laplace", "scale": "1000000"}
    assert worked_out(wide) == pytest.approx(DiscreteLaplace(Fraction(10**6)).half_width(), rel=1e-4)
    assert worked_out(wide, 10**6) == pytest.approx(1.96 * 2**0.5 * 10**9, rel=1e-4)


def test_texts_of_figures_are_in_both_languages():
    templates = [TEMPLATES / READING, *TEMPLATES.rglob("notebook.py")]
    assert len(templates) == len(KNOWN) + 1
    assert not [(path.name, text) for path in templates for text in in_one_language(path.read_text())]
    assert in_one_language('axes.set_xlabel("Period")\nbars(x, "So many", both("a b", "c"))') == [
        "Period",
        "So many",
    ]


def in_one_language(source: str) -> list[str]:
    """Texts that a figure is given, or a variable for its title, outside of `both`."""
    drawn = [
        node.value if isinstance(node, ast.Assign) else node
        for node in ast.walk(ast.parse(source))
        if (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "title")
        or (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).rpartition(".")[2] in {"bars", "set_title", "set_xlabel", "set_ylabel"}
        )
    ]
    return [text for node in drawn for text in _bare(node) if re.search(r"^[A-Z]|[a-z] [a-z]", text)]


def _bare(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not (isinstance(node, ast.Call) and ast.unparse(node.func) == "both"):
        for child in ast.iter_child_nodes(node):
            yield from _bare(child)


def test_the_verifier_knows_the_notebook_of_every_product(tmp_path):
    """A template that changes adds its digest there; those of earlier versions stay."""
    templates = {product: f"releases/{product}/notebook.py" for product in KNOWN}
    for product, template in {**templates, "stream": "streams/notebook.py"}.items():
        script, _jupyter = notebook_files(tmp_path, template)
        assert script.sha256 in KNOWN[product], (
            f"{product}: add {script.sha256} to mechanisms/verify/notebooks.py"
        )
