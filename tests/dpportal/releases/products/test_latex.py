"""Table 1 in LaTeX: names stay what they are, and a real LaTeX makes sheets of it from which nothing sticks out."""

from __future__ import annotations

import re
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpportal.releases.products.summary import latex
from dpportal.releases.products.summary.page import on_paper, table_json
from dpportal.releases.products.summary.table_one import TableOne
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.summary.estimates import estimates
from mechanisms.summary.mechanism import ColumnTables
from tests.mechanisms.summary.counting import counted

PEOPLE = 400
# Signs with which LaTeX begins commands, and those that fonts join or turn into others.
SIGNS = "&%$#_{}~^\\<>\"'`|*[]@!?-+=/;:,.()--"
# So often longtable learns how wide its columns are.
TIMES = 3


def document(signs: str, groups: int) -> str:
    """Of a summary in which every name has the signs."""
    draws = np.random.default_rng(1)
    names = tuple(f"{signs} {i}" if i % 2 else f"[{i}] {signs}" for i in range(groups))
    group = Categorical(f"group {signs}", values=names, closed=True)
    columns = [
        Categorical(f"{signs} of", values=(signs, "*", "[a] long name " * 9, "-"), closed=True),
        Integer(f"number {signs}", lower=-5, upper=1000),
        Boolean("a_name_that_has_no_blank_in_it_" * 3, words=("[no]", "*yes")),
    ]
    plan = ColumnTables().plan(Domain((group,)), columns, [], Loss(Definition.PURE, Fraction(50)), PEOPLE)
    cells = {a.name: draws.integers(0, 2, PEOPLE) for a in columns}
    values = counted(plan, draws.integers(0, groups, PEOPLE), cells)
    table = TableOne(plan, estimates(plan, values))
    return latex.document(on_paper(table_json(table, list(table.blocks()))), "ε = 1, δ = 10⁻⁶")


def typeset(text: str, engine: str, folder: Path) -> tuple[str, Path]:
    """What the last of several runs said, and the sheets."""
    if not shutil.which(engine):
        pytest.skip(f"there is no {engine} here")
    if (
        "{ctex}" in text
        and subprocess.run(["kpsewhich", "ctex.sty"], capture_output=True, check=False).returncode
    ):
        pytest.skip("there is no package ctex here, which sets Chinese")
    (folder / "table1.tex").write_text(text, encoding="utf-8")
    for _time in range(TIMES):
        command = [engine, "-interaction=nonstopmode", "-halt-on-error", "table1.tex"]
        ran = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=300)
        assert ran.returncode == 0, ran.stdout.decode(errors="replace")[-1500:]
    return (folder / "table1.log").read_text(encoding="utf-8", errors="replace"), folder / "table1.pdf"


def check(said: str) -> None:
    for wrong in ("Overfull", "Missing character", "Rerun"):
        assert wrong not in said, [line for line in said.splitlines() if wrong in line]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signs", "groups"),
    [
        *((SIGNS, groups) for groups in (1, 2, 20)),
        ("Größe, Łódź – “n ≥ 5” „a“ ‚b‘ — €", 2),
        ("été ß İ ğ ñ ¿ · ½ µ § ±", 7),
    ],
)
def test_pdflatex_prints_any_name_within_the_sheet(signs, groups, tmp_path) -> None:
    said, sheets = typeset(document(signs, groups), "pdflatex", tmp_path)
    check(said)
    if shutil.which("pdftotext"):
        text = subprocess.run(["pdftotext", "-layout", sheets, "-"], capture_output=True, check=True)
        printed = text.stdout.decode()
        assert printed.count("Table 1") == -(-(groups + 1) // 4) if groups > 2 else 1
        assert "Mean (SD)" in printed and "95 %" in printed and "±" in printed


@pytest.mark.slow
@pytest.mark.parametrize("signs", ["Возраст, α", "性别：男女（年龄）、《表》", "Ħal Għaxaq"])
def test_xelatex_prints_other_letters_and_leaves_none_out(signs, tmp_path) -> None:
    found = subprocess.run(["fc-list"], capture_output=True, check=False) if shutil.which("fc-list") else None
    if not found or not any(font in found.stdout.decode() for font in latex.FONTS):
        pytest.skip("there is none of the fonts that have these letters")
    check(typeset(document(signs, 7), "xelatex", tmp_path)[0])


def test_names_are_printed_as_they_are() -> None:
    assert latex.escaped(r"50% & {x}_1\y") == r"50\% \& \{x\}\_\allowbreak{}1\textbackslash{}y"
    assert latex.escaped("– ≥ “a”") == r"-- $\ge$ ``a''"
    # Neither a dash nor curly quotes, and no end of a paragraph within bold letters.
    assert latex.escaped("a--b,,'c'") == r"a-{}-b,{},\textquotesingle{}c\textquotesingle{}"
    assert latex.escaped("2020-01-05\r\r\x0c1,000") == "2020-01-05   1,000"
    # No line ends between a sign and its number.
    assert latex.escaped("5 ± 2") == r"5 $\pm$~2"


@pytest.mark.parametrize(
    ("caption", "packages"),
    [
        ("Größe, Łódź – “n ≥ 5”", ["[utf8]{inputenc}", "[T1]{fontenc}", "{textcomp}"]),
        ("Ħal Għaxaq", ["{fontspec}"]),
        ("Возраст", ["{fontspec}"]),
        ("表 1", ["{fontspec}", "[scheme=plain]{ctex}"]),
    ],
)
def test_letters_that_no_font_of_eight_bits_has_are_for_another_engine(caption, packages) -> None:
    text = latex.document([{"caption": caption, "heads": [], "difference_name": "", "blocks": []}], "ε = 1")
    used = re.findall(r"^\\usepackage(.*)\n", text, re.MULTILINE)
    assert used == [*packages, "{array,booktabs,longtable}", "[a4paper,landscape,margin=15mm]{geometry}"]
    assert text.startswith("% !TeX program = lualatex") == ("{fontspec}" in packages)
    assert (r"\setmainfont" in text) == ("{fontspec}" in packages)
