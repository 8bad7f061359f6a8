"""A script in cells, which editors know by `# %%`, as a notebook of Jupyter."""

from __future__ import annotations

from collections.abc import Iterator

from mechanisms.json_types import JsonObject

_CELL, _MARKDOWN = "# %%", "# %% [markdown]"
_KERNEL = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def jupyter(source: str) -> JsonObject:
    """A script in cells as a notebook of Jupyter, by nbformat 4.5."""
    cells = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(_cells(source), start=1)]
    return {"cells": cells, "metadata": _KERNEL, "nbformat": 4, "nbformat_minor": 5}


def _cells(source: str) -> Iterator[JsonObject]:
    for part in source.split(f"\n{_CELL}"):
        kind, _, text = part.removeprefix(_CELL).partition("\n")
        if kind.strip() == _MARKDOWN.removeprefix(_CELL).strip():
            lines = [line.removeprefix("#").removeprefix(" ") for line in text.strip().splitlines()]
            yield {"cell_type": "markdown", "metadata": {}, "source": "\n".join(lines)}
        else:
            code: JsonObject = {"cell_type": "code", "metadata": {}, "source": text.strip()}
            yield {**code, "execution_count": None, "outputs": []}
