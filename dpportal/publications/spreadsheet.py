"""Frames whose texts a spreadsheet program shows and never runs, and back.

Other formats than CSV say of a cell that it is a text, and have it as it is.
"""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from mechanisms.inert_text import GUARDED, inert


def exact(texts: pa.Array) -> pa.Array:
    """The texts that `inert` was given."""
    return pc.replace_substring_regex(texts, f"^'({GUARDED})", r"\1")


def inert_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose texts are inert; numbers and dates stay as they are. Its headers are names by `headers`."""
    texts = frame.select_dtypes(include=["string", "object", "category"]).columns
    return frame.assign(**{name: frame[name].map(inert, na_action="ignore") for name in texts})
