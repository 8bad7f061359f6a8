"""CSV texts that a spreadsheet program shows and never runs."""

from __future__ import annotations

import pandas as pd

# A spreadsheet takes a cell that begins so for a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def inert(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def inert_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose column names and texts are inert; numbers and dates stay as they are."""
    texts = frame.select_dtypes(include=["string", "object", "category"]).columns
    changed = {name: frame[name].map(inert, na_action="ignore") for name in texts}
    return frame.assign(**changed).rename(columns=inert)
