"""Texts of CSV files that a spreadsheet program shows and never runs."""

from __future__ import annotations

import re

# A spreadsheet takes a cell that begins with one of these signs for a formula. A text that has apostrophes before
# such a sign already gets another one, so that taking one away gives every text back.
GUARDED = r"'*[=+\-@\t\r\n]"
_RUNS = re.compile(GUARDED)
# A code such as -1 is a number to it, and to every other program that reads the file.
_NEGATIVE_NUMBER = re.compile(r"-[0-9]+(\.[0-9]+)?")


def as_shown(text: str) -> str:
    """The text that `inert` made this one of, as pages show it."""
    return text[1:] if text.startswith("'") and inert(text[1:]) == text else text


def inert(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would take it for a formula."""
    runs = _RUNS.match(text) and not _NEGATIVE_NUMBER.fullmatch(text)
    return f"'{text}" if runs else text
