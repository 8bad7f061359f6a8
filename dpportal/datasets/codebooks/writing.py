"""Declarations as codebooks that can be read again, here or elsewhere."""

from __future__ import annotations

import csv
import io
import json

from dpportal.datasets.codebooks.delimited import CODES, DROPPED, FIELDS, YES
from dpportal.datasets.codebooks.model import FILLED, Codebook
from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Integer, Real


def as_json(book: Codebook) -> str:
    """All that is declared of every column, and which of them were filled from data."""
    entries = {a.name: _entry(a, a.name in book.filled) for a in book.attributes}
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def _entry(attribute: Attribute, is_filled: bool) -> Json:
    entry = attribute.to_json()
    del entry["name"]
    if _counts_empty_as_no(attribute):
        entry["closed"] = False
    return {**entry, FILLED: True} if is_filled else entry


def _counts_empty_as_no(attribute: Attribute) -> bool:
    """Whether a yes-or-no column was declared to count as “no” what is neither: a codebook has to say so."""
    return isinstance(attribute, Boolean) and not attribute.closed


def as_csv(book: Codebook) -> str:
    """All that is declared of every column, a line for each value that is listed; see `delimited`.

    What is said of no column has no column in the file, such as limits where all are categories.
    """
    stated = {key for a in book.attributes for key, text in _facts(a).items() if text}
    stated |= {FILLED} if any(a.name in book.filled for a in book.attributes) else set()
    fields = [field for field in FIELDS if field in stated or field in FIELDS[:3]]
    text = io.StringIO()
    lines = csv.DictWriter(text, fields, restval="", extrasaction="ignore", lineterminator="\n")
    lines.writeheader()
    for attribute in book.attributes:
        mark = {FILLED: YES} if attribute.name in book.filled else {}
        pairs = _listed(attribute) or [("", "")]
        for place, (value, label) in enumerate(pairs):
            facts = _facts(attribute) if place == 0 else {}
            lines.writerow({"column": attribute.name, "value": value, "label": label, **facts, **mark})
    return text.getvalue()


def _listed(attribute: Attribute) -> list[tuple[str, str]]:
    """Values with their labels, and numbers that have a cell of their own."""
    if isinstance(attribute, Categorical):
        return list(zip(attribute.values, attribute.words or attribute.values, strict=True))
    if isinstance(attribute, Boolean):
        nothing = ("", "") if attribute.values or attribute.words else ()
        return list(zip(attribute.values or nothing, attribute.words or nothing, strict=True))
    singles = attribute.single_values if isinstance(attribute, Integer | Real) else ()
    return [(repr(number), "") for number in singles]


def _facts(attribute: Attribute) -> dict[str, str]:
    others = attribute.regular_labels()[0] if _counts_empty_as_no(attribute) else ""
    if attribute.closed:
        to = attribute.misfits_to
        others = DROPPED if to is None else attribute.regular_labels()[to]
    kind = attribute.kind
    if isinstance(attribute, Categorical):  # as which lines without a kind are read
        kind = CODES if attribute.as_numbers else ""
    facts = {"kind": kind, "missing": YES if attribute.missing_cell else ""}
    if isinstance(attribute, Integer | Real | Date):
        facts |= {"lower": str(attribute.lower), "upper": str(attribute.upper), "step": _step(attribute)}
    return {**facts, "others": others, "title": attribute.title}


def _step(attribute: Integer | Real | Date) -> str:
    """The width of a bin, edges with blanks between them, or a step of the calendar."""
    if isinstance(attribute, Date):
        return attribute.step
    if attribute.edges:
        return " ".join(map(repr, attribute.edges))
    width = (
        attribute.width
        if isinstance(attribute, Integer)
        else (attribute.upper - attribute.lower) / attribute.bins
    )
    return repr(width)
