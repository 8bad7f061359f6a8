"""A notebook beside the files of a bundle: it reads them, draws their charts and works their margins out again.

The same program twice: as a script, in cells that editors know by `# %%`, and for Jupyter. It holds no text of a
release, which it reads from release.json as it runs; so it is written as it is, for every release of a product.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from django.template.loader import render_to_string

from dpportal.platform.json_types import Json
from dpportal.publications.archive import BundleFile, write_json

SCRIPT, JUPYTER = "notebook.py", "notebook.ipynb"
ABOUT_SCRIPT = "Reads the files, draws their charts and works the margins out again, in Python"
ABOUT_JUPYTER = "The same as notebook.py, for Jupyter"
READING = "publications/notebook/reading.py"
_CELL, _MARKDOWN = "# %%", "# %% [markdown]"
_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def notebook_files(folder: Path, template: str) -> list[BundleFile]:
    """Write both. template: of the cells that are the product's own, after those that all have."""
    source = f"{render_to_string(READING)}\n\n{render_to_string(template)}"
    script = folder / SCRIPT
    script.write_text(source, encoding="utf-8")
    return [BundleFile(script, ABOUT_SCRIPT), write_json(folder / JUPYTER, ABOUT_JUPYTER, jupyter(source))]


def jupyter(source: str) -> Json:
    """A script in cells as a notebook of Jupyter, by nbformat 4.5."""
    cells = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(_cells(source), start=1)]
    return {"cells": cells, "metadata": _KERNEL, "nbformat": 4, "nbformat_minor": 5}


def _cells(source: str) -> Iterator[Json]:
    for part in source.split(f"\n{_CELL}"):
        kind, _, text = part.removeprefix(_CELL).partition("\n")
        if kind.strip() == _MARKDOWN.removeprefix(_CELL).strip():
            lines = [line.removeprefix("#").removeprefix(" ") for line in text.strip().splitlines()]
            yield {"cell_type": "markdown", "metadata": {}, "source": "\n".join(lines)}
        else:
            code: Json = {"cell_type": "code", "metadata": {}, "source": text.strip()}
            yield {**code, "execution_count": None, "outputs": []}
