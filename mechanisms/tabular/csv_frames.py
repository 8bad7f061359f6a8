"""Frames as CSV files of a download: no text is run by a spreadsheet, and none ends a line."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

import pandas as pd

from mechanisms.inert_text import inert

# The digits of most numbers; and from where on those do not tell how far two are apart, to a unit that is rounded up.
TEN, LARGE, ALL_DIGITS = 10, 10**8, 15


def write_frame(
    frame: pd.DataFrame,
    file: Path | TextIO,
    *,
    header: bool = True,
    float_format: str | Callable[[Any], str] | None = None,
) -> None:
    """Write a frame, or its part of a file that is open without translation of line ends.

    frame: its headers are names by `headers`. float_format: of its floats, such as %.6g or `ten_digits`; None: in
    full.
    """
    harmless = inert_frame(frame)
    # A program that reads the file takes a carriage return outside of quotation marks for a line's end, and Python
    # before 3.13 puts none around it: such a frame has them around every text.
    harmless.to_csv(
        file,
        index=False,
        header=header,
        float_format=float_format,
        lineterminator="\n",
        quoting=csv.QUOTE_NONNUMERIC if _has_carriage_return(harmless) else csv.QUOTE_MINIMAL,
    )


def ten_digits(number: float) -> str:
    """A number with ten significant digits; from 10^8 on all that a float has, as pages show it to its last unit."""
    return f"{number:.{TEN if abs(number) < LARGE else ALL_DIGITS}g}"


def inert_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose texts are inert; numbers and dates stay as they are. Its headers are names by `headers`."""
    texts = frame.select_dtypes(include=["string", "object", "category"]).columns
    return frame.assign(**{name: frame[name].map(inert, na_action="ignore") for name in texts})


def with_truths(frame: pd.DataFrame) -> pd.DataFrame:
    """False and true as all files of a release write them."""
    truths = frame.select_dtypes(include=["boolean"]).columns
    return frame.assign(**{name: frame[name].map({False: "false", True: "true"}) for name in truths})


def _has_carriage_return(frame: pd.DataFrame) -> bool:
    columns = frame.select_dtypes(include=["string", "object", "category"])
    return any(_different(column).str.contains("\r", regex=False).any() for _name, column in columns.items())


def _different(column: pd.Series) -> pd.Series:
    """The texts of a column; of categories each once."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.categories.to_series()
    return column.dropna().astype(str)
