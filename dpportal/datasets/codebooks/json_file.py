"""Codebooks in JSON: an object from column names to what is declared of them."""

from __future__ import annotations

import json
from typing import TypeGuard

from django.utils.translation import gettext as _

from dpportal.datasets.codebooks.faults import CodebookError
from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Categorical, Integer, attribute_from_json

MAX_DIGITS = 18  # what a whole number of a table can have


def read(text: str) -> Json:
    """What is said of each column; the text begins with a brace or a bracket. Raises CodebookError."""
    try:
        entries = json.loads(text, parse_int=_short_integer)
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


def _short_integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise CodebookError(
            _("The codebook holds a whole number of more than 18 digits. No column needs one: shorten it.")
        )
    return int(digits)


def attribute(name: str, entry: object) -> Attribute:
    """Build a declaration. Raises DomainError, TypeError, ValueError or KeyError if it is none."""
    if isinstance(entry, dict):
        for key, value in entry.items():
            if not _fits(entry["kind"], key, value):
                raise TypeError
        return attribute_from_json({**entry, "name": name})
    if _is_integer(entry):
        return Integer(name, lower=0, upper=entry - 1)
    if not isinstance(entry, list) or any(isinstance(value, list | dict) for value in entry):
        raise TypeError
    return Categorical(name, values=tuple(str(value) for value in entry))


def _fits(kind: str, key: str, value: object) -> bool:
    """Whether a field of a declaration has its JSON type; `attribute_from_json` checks which fields a kind has."""
    bound = {"integer": _is_integer, "real": _is_number}.get(kind, _is_text)
    if key in ("lower", "upper"):
        return bound(value)
    if key in ("edges", "single_values"):
        return isinstance(value, list) and all(map(bound, value))
    if key in ("values", "words"):
        return isinstance(value, list) and all(map(_is_text, value))
    if key in ("width", "bins"):
        return _is_integer(value)
    if key == "misfits_to":
        return value is None or _is_integer(value)
    return isinstance(value, bool) if key in ("missing_cell", "closed", "as_numbers") else _is_text(value)


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)
