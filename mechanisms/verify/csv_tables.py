"""The CSV tables of a bundle, as their texts."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pandas as pd

from mechanisms.verify.bundle import Bundle

# Of each table so many lines, of which texts show the first ones or the largest.
MOST_LINES = 100_000
# Table 1, which is words.
PRINTED = "table1"


def tables(bundle: Bundle) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each with the stem of its file's name; Table 1 is none."""
    for name in bundle.entries:
        stem, _dot, ending = name.partition(".")
        if ending == "csv" and stem != PRINTED:
            with bundle.opened(name) as content:
                text = io.TextIOWrapper(content, "utf-8", newline="")
                yield stem, pd.read_csv(text, dtype=str, keep_default_na=False, nrows=MOST_LINES)
