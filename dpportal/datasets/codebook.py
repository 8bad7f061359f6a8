"""Codebooks: declared domains imported from a CSV (column, value) or a JSON file."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from django.utils.translation import gettext as _

from mechanisms.domain import Attribute, Categorical, DomainError, Integer, attribute_from_json

MAX_BYTES = 2 * 2**20


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
    try:
        return [_attribute(name, entry) for name, entry in entries.items()]
    except (DomainError, TypeError, ValueError, KeyError) as error:
        reason = str(error) if isinstance(error, DomainError) else _("a declaration has the wrong form")
        raise CodebookError(_("The codebook could not be used: %(reason)s.") % {"reason": reason}) from None


def _from_json(text: str) -> dict[str, Any]:
    try:
        entries = json.loads(text)
    except json.JSONDecodeError as error:
        place = {"line": error.lineno, "column": error.colno}
        raise CodebookError(_("The JSON is broken at line %(line)s, column %(column)s.") % place) from None
    return {str(name): entry for name, entry in entries.items()}


def _from_csv(text: str) -> dict[str, Any]:
    lines = list(csv.reader(io.StringIO(text)))
    if len(lines) < 2 or any(len(line) != 2 for line in lines if line):
        raise CodebookError(
            _("A CSV codebook has two columns, column and value, a header line and a line for each value.")
        )
    entries: dict[str, Any] = {}
    for line in lines[1:]:
        if line:
            entries.setdefault(line[0].strip(), []).append(line[1])
    return entries


def _attribute(name: str, entry: Any) -> Attribute:
    if isinstance(entry, dict):
        return attribute_from_json({**entry, "name": name})
    if isinstance(entry, int):
        return Integer(name, lower=0, upper=entry - 1)
    return Categorical(name, values=tuple(str(value) for value in entry))
