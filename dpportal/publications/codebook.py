"""codebook.csv: what the columns of a bundle's files are called in the curator's table, and what their values mean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from dpportal.publications.csv_frames import write_frame
from dpportal.publications.headers import Headers
from dpportal.publications.label_columns import written
from dpportal.publications.table import Table
from mechanisms.domain import MISSING_LABEL, Attribute, Categorical, Domain

NAME = "codebook.csv"
FIELDS = [
    {"name": "name", "type": "string", "title": "Name of the column in the files"},
    {"name": "labels_in", "type": "string", "title": "Name of the column that holds the labels of its codes"},
    {"name": "column", "type": "string", "title": "Name of the column in the original table"},
    {"name": "kind", "type": "string", "title": "Kind of the column"},
    {
        "name": "value",
        "type": "string",
        "title": "Value or code, or range of values that are counted together; empty for missing values",
    },
    {"name": "label", "type": "string", "title": "What the value means, where it is a code or empty"},
    {
        "name": "made_of",
        "type": "string",
        "title": "Values of the original table that are counted together in it",
    },
]


def write(domain: Domain, folder: Path) -> Table:
    """A line for every declared value or range of every column, in order."""
    headers = Headers.of(domain)
    lines = [line for attribute in domain.attributes for line in _lines(attribute, headers)]
    frame = pd.DataFrame(lines, columns=[field["name"] for field in FIELDS])
    path = folder / NAME
    write_frame(frame, path)
    return Table(path, "Original names of the columns, and what their values mean", FIELDS)


def _lines(attribute: Attribute, headers: Headers) -> Iterator[tuple[str, ...]]:
    labels_in = headers.labels.get(attribute.name, "")
    fixed = headers.columns[attribute.name], labels_in, attribute.column, attribute.kind
    if labels_in:
        codes = written(attribute, attribute.codes())
        yield from ((*fixed, *pair, "") for pair in zip(codes, attribute.labels(), strict=True))
    else:
        yield from (
            (*fixed, value, "" if value else MISSING_LABEL, _members(attribute, cell))
            for cell, value in enumerate(written(attribute, attribute.labels()))
        )


def _members(attribute: Attribute, cell: int) -> str:
    """The declared values of a cell that is called otherwise, as a group of them is."""
    if not isinstance(attribute, Categorical) or not attribute.words:
        return ""
    return "; ".join(v for v, place in zip(attribute.values, attribute.places, strict=True) if place == cell)
