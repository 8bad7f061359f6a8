"""A codebook of any known form, as declarations of a table's columns."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from dpportal.datasets.codebooks import ddi, delimited, frictionless, json_file, spss_stata
from dpportal.datasets.codebooks.faults import MAX_BYTES, CodebookError, WrongFieldError
from dpportal.datasets.codebooks.model import (
    FILLED,
    MAX_CELLS_OF_A_COLUMN,
    MISSING_CODES,
    SPECIAL_VALUES,
    Codebook,
)
from dpportal.datasets.labels import wrong_title, wrong_values
from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Categorical, DomainError

_LINE_END = re.compile(r"\r\n?")


def read(content: bytes, columns: list[str]) -> Codebook:
    """The declarations a codebook makes for the table's columns. Raises CodebookError.

    CSV whose header names `column`, `value` and perhaps more, see `delimited`. JSON: an
    object from column name to a list of values, to a number k (whole numbers 0..k-1), or to a declaration as
    `release.json` writes it; or a Frictionless schema or package. XML: DDI Codebook. Files of SPSS and Stata: the
    labels of their values. Columns that the table does not have are left out.
    """
    if len(content) > MAX_BYTES:
        raise CodebookError(_("A codebook may have at most 20 MB. Keep only the columns you declare."))
    try:
        entries = _entries(content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _known(error) from None
    if not entries:
        raise CodebookError(_("The codebook says of no column which values or limits it has."))
    unknown = tuple(name for name in entries if name not in columns)
    if len(unknown) == len(entries):
        raise CodebookError(
            _("The table has none of the columns that the codebook names; the first of these is “%(name)s”.")
            % {"name": unknown[0][:80]}
        )
    entries = {name: entry for name, entry in entries.items() if name in columns}
    filled = {name for name, entry in entries.items() if isinstance(entry, dict) and entry.pop(FILLED, False)}
    missing = _missing_codes(entries)
    special = _special_values(entries)
    declared = tuple(_declared(name, entry) for name, entry in entries.items() if name not in special)
    return Codebook(declared, frozenset(filled), unknown, missing, tuple(special.items()))


def _missing_codes(entries: Json) -> tuple[tuple[str, int], ...]:
    """Takes the numbers of missing codes out of what is said of the columns."""
    counted = [
        (n, e.pop(MISSING_CODES)) for n, e in entries.items() if isinstance(e, dict) and MISSING_CODES in e
    ]
    if not all(isinstance(count, int) for _name, count in counted):
        raise CodebookError(_("“missing_codes” is no part of a declaration. Leave it out."))
    return tuple((name, count) for name, count in counted if count)


def _special_values(entries: Json) -> dict[str, tuple[str, ...]]:
    """Those of columns of numbers that a survey's file declares no more of."""
    special = {
        n: e[SPECIAL_VALUES] for n, e in entries.items() if isinstance(e, dict) and SPECIAL_VALUES in e
    }
    if not all(isinstance(values, list) for values in special.values()):
        raise CodebookError(_("“special_values” must be a list of values. Write it so, or leave it out."))
    return {name: tuple(map(str, values)) for name, values in special.items()}


def _known(error: Exception) -> CodebookError:
    """What is wrong where the form of a foreign codebook is not what its standard says."""
    if isinstance(error, CodebookError):
        return error
    return CodebookError(
        _("The codebook does not have the form of its kind. Write it anew, or as JSON or CSV.")
    )


def _entries(content: bytes) -> Json:
    """What is said of each column."""
    for survey in spss_stata.FORMS:
        if survey.is_one(content):
            return survey.read(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise CodebookError(
            _("The codebook is not UTF-8 text. Save it as UTF-8 and choose it again.")
        ) from None
    if text.lstrip().startswith("<"):
        return ddi.read(content)
    if not text.lstrip().startswith(("{", "[")):
        return delimited.read(text)
    entries = json_file.read(text)
    fields = frictionless.fields(entries)
    return entries if fields is None else frictionless.read(fields)


def _declared(name: str, entry: object) -> Attribute:
    attribute = _attribute(name, entry)
    if wrong := wrong_title(attribute.title):
        raise _unusable(f"{name[:80]}: {wrong}", name, "title")
    if isinstance(attribute, Categorical):
        _check_values(attribute)
    if attribute.size > MAX_CELLS_OF_A_COLUMN:
        text = _(
            "The codebook gives “%(name)s” %(cells)s cells; at most 1,000,000 are possible. Use wider bins."
        )
        raise CodebookError(text % {"name": name[:80], "cells": f"{attribute.size:,}"}, (name,))
    return attribute


def _attribute(name: str, entry: object) -> Attribute:
    try:
        return json_file.attribute(name, _with_newlines(entry))
    except DomainError as error:
        raise _unusable(error, name) from None
    except WrongFieldError as wrong:
        text = _("The codebook could not be used: “%(field)s” of “%(name)s” must be %(needs)s.")
        values = {"field": wrong.field[:80], "name": name[:80], "needs": wrong.needs}
        raise CodebookError(text % values, (name, wrong.field)) from None
    except (TypeError, ValueError, KeyError):
        text = _(
            "The codebook could not be used: the declaration of “%(name)s” has the wrong form. Write a list of "
            "values, a number of codes, or a declaration as in release.json."
        )
        raise CodebookError(text % {"name": name[:80]}, (name,)) from None


def _with_newlines(entry: object) -> object:
    """The entry with every line end within its values and labels a newline, as tables are read."""
    if isinstance(entry, dict):
        return {
            key: _with_newlines(value) if key in ("values", "words") else value
            for key, value in entry.items()
        }
    if not isinstance(entry, list):
        return entry
    return [_LINE_END.sub("\n", text) if isinstance(text, str) else text for text in entry]


def _check_values(attribute: Categorical) -> None:
    name = attribute.name[:80]
    if any("\0" in value for value in (*attribute.values, *attribute.words)):
        text = _("The codebook gives “%(name)s” a value with a zero byte. Leave it out.")
        raise CodebookError(text % {"name": name}, (attribute.name,))
    is_open = not attribute.closed
    wrong = wrong_values(attribute, own_missing=attribute.missing_cell, is_open=is_open)
    if wrong:
        raise _unusable(f"{name}: {wrong}", attribute.name)


def _unusable(why: object, *place: str) -> CodebookError:
    """why: in a whole sentence. place: as CodebookError has it."""
    return CodebookError(_("The codebook could not be used. %(why)s") % {"why": why}, place)
