"""Codebooks in JSON: an object from column names to what is declared of them."""

from __future__ import annotations

import json
from typing import Any

from django.utils.translation import gettext as _

from dpportal.datasets.codebooks.faults import CodebookError
from mechanisms.domain import Attribute, Categorical, Integer, attribute_from_json

MAX_DIGITS = 18  # what a whole number of a table can have


def read(text: str) -> dict[str, Any]:
    """What is said of each column; the text begins with a brace or a bracket. Raises CodebookError."""
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
    if not isinstance(entries, dict):
        raise CodebookError(
            _("The codebook's JSON is a list. Write an object from column names to what is declared of each.")
        )
    return {str(name): entry for name, entry in entries.items()}


def _whole_number(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise CodebookError(
            _("The codebook holds a whole number of more than 18 digits. No column needs one: shorten it.")
        )
    return int(digits)


def attribute(name: str, entry: Any) -> Attribute:
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
    if key in ("values", "words"):
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
