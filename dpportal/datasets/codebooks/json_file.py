"""Codebooks in JSON: an object from column names to what is declared of them."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable
from datetime import date
from typing import TypeGuard

from django.utils.translation import gettext as _

from dpportal.datasets.codebooks.faults import CodebookError, WrongFieldError
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Integer, Real, attribute_from_json
from mechanisms.domain.product import KINDS

MAX_DIGITS = 18  # what a whole number of a table can have
LIMITS = ("lower", "upper")
# Of decimals that programs write: by how much a number of steps may be off a whole one, and how many are counted.
ROUNDING, MOST_STEPS = 1e-9, 1e15


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
    """Build a declaration. Raises DomainError, WrongFieldError, TypeError or ValueError if it is none."""
    if isinstance(entry, dict):
        kind = entry.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise WrongFieldError("kind", _("one of %(kinds)s") % {"kinds": listed(KINDS)})
        entry = _with_closed(kind, _in_bins(kind, entry))
        _check_names(kind, entry)
        for key, value in entry.items():
            _check(kind, key, value)
        return attribute_from_json({**entry, "name": name})
    if _is_integer(entry):
        return Integer(name, lower=0, upper=entry - 1)
    if not isinstance(entry, list) or any(isinstance(value, list | dict) for value in entry):
        raise TypeError
    return Categorical(name, values=tuple(str(value) for value in entry))


def _with_closed(kind: str, entry: Json) -> Json:
    """A yes-or-no column is closed unless somebody says otherwise, as on pages: an empty field is no “no”."""
    return {"closed": True, **entry} if kind == Boolean.kind else entry


def _in_bins(kind: str, entry: Json) -> Json:
    """Decimals that say the `step` from each bin to the next instead of how many `bins` there are.

    Raises WrongFieldError.
    """
    if kind != Real.kind or "step" not in entry:
        return entry
    rest = {key: value for key, value in entry.items() if key != "step"}
    if rest.keys() & {"bins", "edges"}:
        raise WrongFieldError("step", _("left out where “bins” or “edges” say the cells"))
    step, bounds = entry["step"], [rest.get(name, getattr(Real, name)) for name in ("lower", "upper")]
    for name, value in zip(("step", "lower", "upper"), (step, *bounds), strict=True):
        _check(kind, name, value)
    lower, upper = bounds
    if not (math.isfinite(step) and step > 0):
        raise WrongFieldError("step", _("a number above 0"))
    if not (math.isfinite(upper - lower) and upper > lower):
        return rest  # the bounds are refused for themselves
    return {**rest, "bins": _bins_of(step, lower, upper)}


def _bins_of(step: float, lower: float, upper: float) -> int:
    """How many steps there are between the bounds. Raises WrongFieldError where they are no whole number."""
    steps = (upper - lower) / step
    bins = round(min(steps, MOST_STEPS))
    if bins < 1 or abs(steps - bins) > ROUNDING * bins:
        nearest = (upper - lower) / max(bins, 1)
        needs = _("one of which a whole number fits between the limits, such as %(step)s")
        raise WrongFieldError("step", needs % {"step": f"{nearest:.6g}"})
    return bins


def _check_names(kind: str, entry: Json) -> None:
    """That all fields are of this kind, and none of those is missing that it needs. Raises WrongFieldError."""
    known = {field.name: field for field in dataclasses.fields(KINDS[kind]) if field.init}
    for name in entry:
        if name not in known and name != "kind":
            raise WrongFieldError(
                name, _("left out, since no declaration of kind “%(kind)s” has it") % {"kind": kind}
            )
    for name, field in known.items():
        has_default = (
            dataclasses.MISSING is not field.default or field.default_factory is not dataclasses.MISSING
        )
        # A limit that nobody said would cut all values to one.
        is_needed = name in LIMITS or not has_default
        if name not in entry and name != "name" and is_needed:
            raise WrongFieldError(name, _("given"))


def _check(kind: str, key: str, value: object) -> None:
    """That a field of a declaration has its JSON type. Raises WrongFieldError."""
    if key in LIMITS:
        is_bound, needs = _bound(kind)
        fits = is_bound(value) and (kind != Date.kind or _is_day(value))
    elif key == "step" and kind == Real.kind:
        fits, needs = _is_number(value), _("a number")
    elif key in ("edges", "single_values"):
        is_bound, needs = _bound(kind)
        fits, needs = isinstance(value, list) and all(map(is_bound, value)), _("a list of numbers")
    elif key in ("values", "words"):
        fits, needs = (
            isinstance(value, list) and all(map(_is_text, value)),
            _("a list of texts in quotation marks"),
        )
    elif key in ("width", "bins", "misfits_to"):
        fits = _is_integer(value) or (value is None and key == "misfits_to")
        needs = _("a whole number")
    elif key in ("missing_cell", "closed", "as_numbers"):
        fits, needs = isinstance(value, bool), _("true or false")
    else:
        fits, needs = _is_text(value), _("a text in quotation marks")
    if not fits:
        raise WrongFieldError(key, needs)


def _bound(kind: str) -> tuple[Callable[[object], bool], str]:
    """What a bound of a kind has to be, and how that is said."""
    if kind == Integer.kind:
        return _is_integer, _("a whole number")
    if kind == Real.kind:
        return _is_number, _("a number")
    return _is_text, _("a day such as “2024-01-31”")


def _is_day(value: object) -> bool:
    try:
        date.fromisoformat(str(value))
    except ValueError:
        return False
    return True


def _is_integer(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str)
