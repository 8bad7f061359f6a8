"""CSV texts that a spreadsheet program shows and never runs."""

from __future__ import annotations

import re

import pandas as pd

# A spreadsheet takes a cell that begins so for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")
# A code such as -1 is a number to it, and to every other program that reads the file.
NEGATIVE_NUMBER = re.compile(r"-[0-9]+(\.[0-9]+)?")


def inert(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would take it for a formula."""
    runs = text.startswith(FORMULA_STARTS) and not NEGATIVE_NUMBER.fullmatch(text)
    return f"'{text}" if runs else text


def inert_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose column names and texts are inert; numbers and dates stay as they are."""
    texts = frame.select_dtypes(include=["string", "object", "category"]).columns
    changed = {name: frame[name].map(inert, na_action="ignore") for name in texts}
    return frame.assign(**changed).rename(columns=inert)
