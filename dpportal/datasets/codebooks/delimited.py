"""Codebooks in CSV: a line for each declared value, perhaps with its label, and limits for the other kinds.

`kind`, `lower`, `upper`, `step`, `missing`, `others` and `title` are said on any line of a column, and may be left out
of the file. `value` lists what a column of categories or of yes and no has, and the numbers of the others that have a
cell of their own.
"""

from __future__ import annotations

import csv
import io

from django.utils.translation import gettext as _

from dpportal.datasets.codebooks import json_file
from dpportal.datasets.codebooks.faults import CodebookError
from dpportal.datasets.codebooks.model import FILLED, MAX_CELLS_OF_A_COLUMN, categories
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from mechanisms.domain import STEPS

MAX_LENGTH = 1000
# Of the column, said once.
FACTS = ("kind", "lower", "upper", "step", "missing", "others", "title")
FIELDS = ("column", "value", "label", *FACTS, FILLED)
YES = "yes"  # of what is missing: it has a cell; of a value: it was taken from data
DROPPED = "dropped"  # of others than the declared: their row is left out; else the label that they count as
CODES = "codes"  # a kind: categories whose texts are compared as numbers
KINDS = ("categorical", CODES, "boolean", "integer", "real", "date")


def read(text: str) -> Json:
    """What is declared of each column. Columns are parted by commas or semicolons, or by tabs.

    A column is filled from data if one of its lines says so. Raises CodebookError.
    """
    lines = _lines(text)
    longest = max((len(cell) for line in lines for cell in line), default=0)
    header = [cell.strip().lower() for cell in lines[0]] if lines else []
    if len(lines) < 2 or longest > MAX_LENGTH:
        raise _formless()
    if not {"column", "value"} <= set(header) <= set(FIELDS) or len(set(header)) < len(header):
        raise _formless()
    _require_even(lines)
    by_column: dict[str, list[dict[str, str]]] = {}
    for line in lines[1:]:
        cells = dict(zip(header, (cell.strip() for cell in line), strict=True))
        by_column.setdefault(cells["column"], []).append(cells)
    return {name: _entry(name, cells) for name, cells in by_column.items()}


def _entry(name: str, lines: list[dict[str, str]]) -> Json:
    facts = {fact: _single_fact(name, lines, fact) for fact in FACTS}
    kind = facts["kind"].lower() or "categorical"
    if kind not in KINDS:
        text = _("“%(name)s”: the kind in a CSV codebook is one of %(kinds)s.")
        raise CodebookError(text % {"name": name[:80], "kinds": listed(KINDS)})
    try:
        entry = _of_kind(kind, lines, facts)
        entry |= {"missing_cell": True} if facts["missing"].lower() == YES else {}
        entry |= {"title": facts["title"]} if facts["title"] else {}
        entry |= _undeclared_values(name, entry, facts["others"])
    except (ValueError, ArithmeticError):
        text = _(
            "“%(name)s”: write limits and steps as numbers, days as 2020-12-31, several steps with blanks between "
            "them, and in “others” nothing, “dropped” or one of the labels."
        )
        raise CodebookError(text % {"name": name[:80]}) from None
    marks = {line.get(FILLED, "").lower() for line in lines}
    if not marks <= {YES, ""}:
        raise CodebookError(
            _("In a CSV codebook the column “filled_from_data” says “yes” or is left empty. Correct it.")
        )
    return {**entry, FILLED: True} if YES in marks else entry


def _single_fact(name: str, lines: list[dict[str, str]], fact: str) -> str:
    """What the lines of a column say of it, each the same or nothing."""
    values = {line.get(fact, "") for line in lines} - {""}
    if len(values) > 1:
        text = _("“%(name)s”: two lines of the CSV codebook differ in “%(fact)s”. Say it once for a column.")
        raise CodebookError(text % {"name": name[:80], "fact": fact})
    return values.pop() if values else ""


def _of_kind(kind: str, lines: list[dict[str, str]], facts: dict[str, str]) -> Json:
    values, labels = [line["value"] for line in lines], [line.get("label", "") for line in lines]
    if kind in ("categorical", CODES):
        return {**categories(values, labels), **({"as_numbers": True} if kind == CODES else {})}
    if kind == "boolean":
        named = {"values": values} if any(values) else {}
        return {"kind": kind, **named, **({"words": labels} if any(labels) else {})}
    if kind == "date":
        step = facts["step"].lower() or "month"
        if step not in STEPS:
            raise ValueError
        return {"kind": kind, "lower": facts["lower"], "upper": facts["upper"], "step": step}
    number = int if kind == "integer" else float
    lower, upper = number(facts["lower"]), number(facts["upper"])
    single = [number(value) for value in values if value]
    own = {"single_values": single} if single else {}
    steps = [number(step) for step in facts["step"].split()]
    return {"kind": kind, "lower": lower, "upper": upper, **_divided(kind, steps), **own}


def _divided(kind: str, steps: list[float]) -> Json:
    """steps: the width of each bin, or several edges; none for whole numbers by themselves, and one bin of others."""
    if len(steps) > 1:
        return {"edges": steps}
    return {"width" if kind == "integer" else "step": steps[0]} if steps else {}


def _undeclared_values(name: str, entry: Json, others: str) -> Json:
    """What becomes of a value that is not declared, other than a cell of its own. Raises ValueError for no label."""
    if not others:
        return {}
    if others.lower() == DROPPED:
        return {"closed": True}
    own = json_file.attribute(name, {**entry, "closed": True})
    if own.size > MAX_CELLS_OF_A_COLUMN:
        raise ValueError
    labels = own.regular_labels()
    return {"closed": True, "misfits_to": labels.index(others)}


def _require_even(lines: list[list[str]]) -> None:
    """Raises CodebookError with the place of the first line that has not as many entries as the header."""
    expected = len(lines[0])
    for number, line in enumerate(lines[1:], start=2):
        if len(line) != expected:
            text = _(
                "Of the lines that are not empty, number %(number)s has %(found)s entries, and the header has "
                "%(expected)s. Put an entry that holds the separator in quotes."
            )
            raise CodebookError(text % {"number": number, "found": len(line), "expected": expected})


def _formless() -> CodebookError:
    return CodebookError(
        _(
            "A CSV codebook has two columns, column and value, and perhaps label, kind, lower, upper, step, missing, "
            "others, title and filled_from_data; a header line that names them so, and a line for each value, or one "
            "for a column of numbers or dates; all are shorter than 1,000 characters."
        )
    )


def _lines(text: str) -> list[list[str]]:
    header = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    try:
        return [line for line in csv.reader(io.StringIO(text), delimiter=delimiter) if line]
    except csv.Error:
        return []
