"""CSV texts that a spreadsheet program shows and never runs.

Other formats say of a cell that it is a text, and have it as it is.
"""

from __future__ import annotations

import re

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

# A spreadsheet takes a cell that begins with one of these signs for a formula. A text that has apostrophes before
# such a sign already gets another one, so that taking one away gives every text back.
_GUARDED = r"'*[=+\-@\t\r\n]"
_RUNS = re.compile(_GUARDED)
# A code such as -1 is a number to it, and to every other program that reads the file.
NEGATIVE_NUMBER = re.compile(r"-[0-9]+(\.[0-9]+)?")


def inert(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would take it for a formula."""
    runs = _RUNS.match(text) and not NEGATIVE_NUMBER.fullmatch(text)
    return f"'{text}" if runs else text


def exact(texts: pa.Array) -> pa.Array:
    """The texts that `inert` was given."""
    return pc.replace_substring_regex(texts, f"^'({_GUARDED})", r"\1")


def inert_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose texts are inert; numbers and dates stay as they are. Its headers are names by `headers`."""
    texts = frame.select_dtypes(include=["string", "object", "category"]).columns
    return frame.assign(**{name: frame[name].map(inert, na_action="ignore") for name in texts})
