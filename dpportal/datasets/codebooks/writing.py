"""Declarations as codebooks that can be read again, here or elsewhere."""

from __future__ import annotations

import csv
import io
import json

from dpportal.datasets.codebooks.delimited import FIELDS, YES
from dpportal.datasets.codebooks.model import FILLED, Codebook
from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Categorical


def as_json(book: Codebook) -> str:
    """All that is declared of every column, and which of them were filled from data."""
    entries = {a.name: _entry(a, a.name in book.filled) for a in book.attributes}
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def _entry(attribute: Attribute, is_filled: bool) -> Json:
    entry = attribute.to_json()
    del entry["name"]
    return {**entry, FILLED: True} if is_filled else entry


def as_csv(book: Codebook) -> str:
    """A line for each value of the columns of categories, with its label; the other kinds have no values to list.

    Where one of them was filled from data, a fourth column says so of each of its values.
    """
    listed = [attribute for attribute in book.attributes if isinstance(attribute, Categorical)]
    width = len(FIELDS) if any(a.name in book.filled for a in listed) else len(FIELDS) - 1
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(FIELDS[:width])
    for attribute in listed:
        words = attribute.words or attribute.values
        mark = YES if attribute.name in book.filled else ""
        pairs = zip(attribute.values, words, strict=True)
        lines.writerows((attribute.name, *pair, mark)[:width] for pair in pairs)
    return text.getvalue()
