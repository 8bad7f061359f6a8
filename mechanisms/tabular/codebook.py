"""What the columns of files are called in the original table, and what their values mean: a line for each value."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from mechanisms.domain import MISSING_LABEL, Attribute, Categorical, Domain
from mechanisms.tabular.headers import Headers
from mechanisms.tabular.label_columns import written

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
# Where a column has one: a further field.
TITLE = {"name": "title", "type": "string", "title": "What pages and charts call the column"}


def codebook_fields(domain: Domain) -> list[dict[str, str]]:
    """The fields of `codebook_frame`."""
    return [*FIELDS, *([TITLE] if any(a.title for a in domain.attributes) else [])]


def codebook_frame(domain: Domain) -> pd.DataFrame:
    """A line for every declared value or range of every column, in order."""
    headers = Headers.of(domain)
    lines = [(*line, a.title) for a in domain.attributes for line in _lines(a, headers)]
    names = [field["name"] for field in codebook_fields(domain)]
    return pd.DataFrame([line[: len(names)] for line in lines], columns=names)


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
