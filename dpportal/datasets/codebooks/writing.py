"""Declarations as codebooks that can be read again, here or elsewhere."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from dpportal.datasets.codebooks.book import FILLED, Codebook
from mechanisms.domain import Attribute, Categorical


def as_json(book: Codebook) -> str:
    """All that is declared of every column, and which of them were filled from data."""
    entries = {a.name: _entry(a, a.name in book.filled) for a in book.attributes}
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def _entry(attribute: Attribute, is_filled: bool) -> dict[str, Any]:
    entry = attribute.to_json()
    del entry["name"]
    return {**entry, FILLED: True} if is_filled else entry


def as_csv(book: Codebook) -> str:
    """A line for each value of the columns of categories, with its label; the other kinds have no values to list."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("column", "value", "label"))
    for attribute in book.attributes:
        if isinstance(attribute, Categorical):
            words = attribute.words or attribute.values
            lines.writerows((attribute.name, *pair) for pair in zip(attribute.values, words, strict=True))
    return text.getvalue()
