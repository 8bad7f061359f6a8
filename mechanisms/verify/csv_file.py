"""A CSV file of a bundle beside the one that is made again: columns, labels, numbers, and how they are written.

Texts and whole numbers must be the same. Other numbers come from sums of floats, whose last bits another processor
rounds otherwise: they must be written in the file's own digits, and be those that are made again up to half a unit of
the last digit, and a billionth of the number, or of its interval's width where that is larger.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mechanisms.inert_text import inert
from mechanisms.tabular.csv_frames import ALL_DIGITS, LARGE, TEN, ten_digits, with_truths, write_frame
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State

# Of a number, or of its interval's width.
RELATIVE = 1e-9
_QUOTED = ',"\r\n'
_ROWS_READ = 100_000


@dataclass(frozen=True)
class Numbers:
    """A column of floats; NaN is written as nothing. digits: that count (of TEN, see `ten_digits`), or decimals.

    scale: what rounding is relative to where it is more than the number itself.
    """

    values: np.ndarray
    digits: int = 6
    decimals: int | None = None
    scale: np.ndarray | float = 0.0
    within: float = 0.0

    def text(self, number: float) -> str:
        if np.isnan(number):
            return ""
        if self.decimals is not None:
            return str(round(number, self.decimals))
        return ten_digits(number) if self.digits == TEN else f"{number:.{self.digits}g}"

    def unit(self, numbers: np.ndarray) -> np.ndarray:
        """Of the last digit."""
        if self.decimals is not None:
            return np.full(len(numbers), 10.0**-self.decimals)
        sizes = np.floor(np.log10(np.maximum(np.abs(numbers), 1e-300)))
        digits = np.where((self.digits == TEN) & (np.abs(numbers) >= LARGE), ALL_DIGITS, self.digits)
        return np.asarray(10.0 ** (sizes + 1 - digits))


ColumnValues = Numbers | np.ndarray


def texts(values: Iterable[str]) -> np.ndarray:
    """A column of texts, as CSV files have them."""
    return np.array([inert(value) for value in values], dtype=object)


def read(bundle: Bundle, name: str) -> pd.DataFrame:
    """A CSV file, as texts. Raises KeyError if there is none, ValueError if it is not written as a portal does."""
    content = bundle.content(name)
    _check_writing(content.decode("utf-8"))
    return pd.read_csv(io.BytesIO(content), dtype=str, keep_default_na=False, skip_blank_lines=False)


def count_rows(bundle: Bundle, name: str) -> int:
    """How many lines a CSV file has below its header, read piece by piece. Raises KeyError if there is none."""
    with bundle.opened(name) as file:
        frames = pd.read_csv(
            file, dtype=str, keep_default_na=False, skip_blank_lines=False, usecols=[0], chunksize=_ROWS_READ
        )
        return sum(map(len, frames))


def _check_writing(content: str) -> None:
    """Raise ValueError if a line has signs that are no part of its fields, or more or fewer fields than the header."""
    # Texts with a carriage return stand in quotation marks, and so does every text beside them.
    is_plain, at, columns = "\r" not in content, 0, 0
    for number, fields in enumerate(csv.reader(io.StringIO(content, newline=""), strict=True)):
        columns = columns or len(fields)
        own = f"{','.join(map(_field, fields))}\n" if fields != [""] else '""\n'
        if len(fields) != columns or (is_plain and not content.startswith(own, at)):
            raise ValueError(f"is written otherwise than by a portal in line {number:,}")
        at += len(own)


def _field(text: str) -> str:
    if not any(sign in text for sign in _QUOTED):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def compared(bundle: Bundle, name: str, columns: Mapping[str, ColumnValues], how: str = "") -> Finding:
    """Whether a file has these columns, in this order, and no other. how: the numbers follow from."""
    if name not in bundle.entries:
        return Finding(name, State.FAILED, "it is missing")
    try:
        table = read(bundle, name)
    except (ValueError, csv.Error) as fault:
        return Finding(
            name, State.FAILED, f"it {fault}" if isinstance(fault, ValueError) else "it is no table"
        )
    text = f"{len(table):,} lines follow from {how or 'the measurement'}"
    return Finding.of(name, fault_of(table, columns), text)


def fault_of(table: pd.DataFrame, columns: Mapping[str, ColumnValues]) -> str:
    """The first thing that is otherwise in a table of texts, in words; empty if nothing is."""
    if list(table.columns) != list(columns):
        return "it has other columns"
    for name, column in columns.items():
        size = len(column.values if isinstance(column, Numbers) else column)
        if len(table) != size:
            return f"it has {len(table):,} lines, and should have {size:,}"
        if line := _first_other(table[name].to_numpy(object), column):
            return f"line {line:,} has another {name}"
    return ""


def _first_other(stated: np.ndarray, column: ColumnValues) -> int:
    """The first line, from 1, that has something else; 0 if none."""
    if not isinstance(column, Numbers):
        own = np.array([str(value) for value in column.tolist()], dtype=object)
        return first_other(own, stated)
    values = np.asarray(column.values, float)
    same = np.array([column.text(value) for value in values.tolist()], dtype=object) == stated
    for place in np.flatnonzero(~same).tolist():
        if not _is_near(str(stated[place]), place, values, column):
            return place + 1
    return 0


def _is_near(text: str, place: int, values: np.ndarray, column: Numbers) -> bool:
    """Whether a number that is written otherwise is the same up to rounding."""
    try:
        number = float(text)
    except ValueError:
        return False
    own = values[place : place + 1]
    if column.text(number) != text or not np.isfinite([number, own[0]]).all():
        return False
    scale = np.broadcast_to(column.scale, values.shape)[place]
    scale = max(abs(own[0]), scale if np.isfinite(scale) else 0.0)
    off = column.unit(own)[0] / 2 + RELATIVE * scale + column.within
    return bool(abs(number - own[0]) <= off * (1 + 1e-6))


def first_other(own: np.ndarray, theirs: np.ndarray) -> int:
    """The first place, from 1, at which two columns of texts differ; 0 if none."""
    if len(own) != len(theirs):
        return min(len(own), len(theirs)) + 1
    same = np.asarray(own == theirs)
    return 0 if same.all() else int(np.argmin(same)) + 1


def same_bytes(bundle: Bundle, name: str, frames: Iterable[pd.DataFrame]) -> tuple[int, int]:
    """How many lines frames have, and the first frame, from 1, that a file does not have byte for byte; 0 if none."""
    lines = 0
    with bundle.opened(name) as file:
        for number, frame in enumerate(frames, start=1):
            held = io.StringIO(newline="")
            write_frame(with_truths(frame), held, header=number == 1)
            own = held.getvalue().encode()
            lines += len(frame)
            if file.read(len(own)) != own:
                return lines, number
        return lines, number + 1 if file.read(1) else 0
