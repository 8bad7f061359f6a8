"""Codebooks: declared domains imported from a CSV (column, value) or a JSON file."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from django.utils.translation import gettext as _

from dpportal.datasets.labels import wrong_values
from mechanisms.domain import Attribute, Categorical, DomainError, Integer, attribute_from_json

MAX_BYTES = 2 * 2**20
MAX_LENGTH = 1000
MAX_CELLS_OF_A_COLUMN = 10**6
MAX_DIGITS = 18  # what a whole number of a table can have


class CodebookError(ValueError):
    """A codebook that cannot be read; the message says what to change."""


def read(content: bytes, columns: list[str]) -> list[Attribute]:
    """The declarations a codebook makes for the table's columns.

    CSV with a header and two columns, `column,value`, one line for each declared value. JSON: an object from column
    name to a list of values, to a number k (whole numbers 0..k-1), or to a declaration as `release.json` writes it.
    """
    if len(content) > MAX_BYTES:
        raise CodebookError(_("A codebook may have at most 2 MB. Keep only the columns you declare."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CodebookError(
            _("The codebook is not UTF-8 text. Save it as UTF-8 and choose it again.")
        ) from None
    entries = _from_json(text) if text.lstrip().startswith("{") else _from_csv(text)
    unknown = [name for name in entries if name not in columns]
    if unknown:
        raise CodebookError(
            _("The codebook names %(count)s columns that the table does not have; the first is “%(name)s”.")
            % {"count": len(unknown), "name": unknown[0][:80]}
        )
    return [_declared(name, entry) for name, entry in entries.items()]


def _declared(name: str, entry: Any) -> Attribute:
    try:
        attribute = _attribute(name, entry)
    except DomainError as error:
        raise CodebookError(_("The codebook could not be used. %(reason)s") % {"reason": error}) from None
    except (TypeError, ValueError, KeyError):
        text = _(
            "The codebook could not be used: the declaration of “%(name)s” has the wrong form. Write a list of "
            "values, a number of codes, or a declaration as in release.json."
        )
        raise CodebookError(text % {"name": name[:80]}) from None
    if isinstance(attribute, Categorical):
        if any("\0" in value for value in attribute.values):
            raise CodebookError(
                _("The codebook gives “%(name)s” a value with a zero byte. Leave it out.")
                % {"name": name[:80]}
            )
        wrong = wrong_values(
            attribute.values, own_missing=attribute.missing_cell, is_open=not attribute.closed
        )
        if wrong:
            raise CodebookError(
                _("The codebook could not be used. %(reason)s") % {"reason": f"{name[:80]}: {wrong}"}
            )
    if attribute.size > MAX_CELLS_OF_A_COLUMN:
        text = _(
            "The codebook gives “%(name)s” %(cells)s cells; at most 1,000,000 are possible. Use wider bins."
        )
        raise CodebookError(text % {"name": name[:80], "cells": f"{attribute.size:,}"})
    return attribute


def _from_json(text: str) -> dict[str, Any]:
    try:
        entries = json.loads(text, parse_int=_whole_number)
        json.dumps(entries, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise CodebookError(
            _("The codebook holds half of a character (a lone surrogate, \\ud800 to \\udfff). Write it anew.")
        ) from None
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno}
        text = _("The codebook's JSON is broken at line %(line)s, column %(column)s.")
        raise CodebookError(text % place) from None
    except RecursionError:
        raise CodebookError(_("The codebook's JSON is nested too deeply to be a codebook.")) from None
    return {str(name): entry for name, entry in entries.items()}


def _whole_number(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise CodebookError(
            _("The codebook holds a whole number of more than 18 digits. No column needs one: shorten it.")
        )
    return int(digits)


def _from_csv(text: str) -> dict[str, Any]:
    try:
        lines = list(csv.reader(io.StringIO(text)))
    except csv.Error:
        lines = []
    longest = max((len(cell) for line in lines for cell in line), default=0)
    if len(lines) < 2 or longest > MAX_LENGTH or any(len(line) != 2 for line in lines if line):
        raise CodebookError(
            _(
                "A CSV codebook has two columns, column and value, a header line and a line for each value; "
                "names and values are shorter than 1,000 characters."
            )
        )
    entries: dict[str, Any] = {}
    for line in lines[1:]:
        if line:
            entries.setdefault(line[0].strip(), []).append(line[1])
    return entries


def _attribute(name: str, entry: Any) -> Attribute:
    """Build a declaration. Raises DomainError, TypeError, ValueError or KeyError if it is none."""
    if isinstance(entry, dict):
        for key, value in entry.items():
            if not _fits(entry["kind"], key, value):
                raise TypeError
        return attribute_from_json({**entry, "name": name})
    if _whole(entry):
        return Integer(name, lower=0, upper=entry - 1)
    if not isinstance(entry, list) or any(isinstance(value, list | dict) for value in entry):
        raise TypeError
    return Categorical(name, values=tuple(str(value) for value in entry))


def _fits(kind: str, key: str, value: Any) -> bool:
    """Whether a field of a declaration has its JSON type; which fields a kind has is checked elsewhere."""
    bound = {"integer": _whole, "real": _number}.get(kind, _text)
    if key in ("lower", "upper"):
        return bound(value)
    if key == "edges":
        return isinstance(value, list) and all(map(bound, value))
    if key == "values":
        return isinstance(value, list) and all(map(_text, value))
    if key in ("width", "bins"):
        return _whole(value)
    if key == "misfits_to":
        return value is None or _whole(value)
    return isinstance(value, bool) if key in ("missing_cell", "closed", "as_numbers") else _text(value)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> bool:
    return isinstance(value, str)
