"""Synthetic rows from the counts of a histogram, value by value inside the declared bins."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionArray

from mechanisms.arrays import Flags, Floats, Integers, let_go, runs, summed
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real
from mechanisms.noise import repeatable
from mechanisms.synthesis.density import BinDensity
from mechanisms.validation import WITHIN_BINS

SMOOTH, MIDPOINT = (key for key, _label in WITHIN_BINS.choices)
# Beyond so many rows they are made in order of their cells, so that memory does not grow with the people.
MAX_SHUFFLED = 2**22
# A frame of rows of cells holds no more than so many rows, and values in all.
FRAME_ROWS, FRAME_VALUES = 100_000, 2_000_000
# Digits that a real value shows beyond the width of its bin.
_DIGITS_IN_BIN = 3
_MAX_DECIMALS = 15


def public_seed(measurement_sha256: str) -> bytes:
    """The 32 public bytes by which rows are drawn: the measurement's own digest, so the same rows come out again."""
    return hashlib.sha256(measurement_sha256.encode()).digest()


def rows(
    domain: Domain, counts: np.ndarray, digest: bytes, within_bins: str = SMOOTH, chunk: int = 100_000
) -> Iterator[pd.DataFrame]:
    """One row per counted person, shuffled up to MAX_SHUFFLED rows, else in cell order; in frames of `chunk` rows.

    counts: (domain.size,) integers >= 0. digest: 32 public bytes. within_bins: one of WITHIN_BINS.
    The rows depend on these alone, not on `chunk`. Columns are the domain's, in its order: categories as
    string, booleans as boolean, whole numbers as Int64, reals as float64, dates as datetime64[s]; the cell
    for missing values gives nulls. Without rows there is one empty frame with the same columns.
    Raises ValueError if the shape, the sign or `within_bins` does not fit.

    Post-processing of released counts: no data and no secret enters.
    """
    _check(domain, counts, within_bins)
    return _frames(domain, counts, digest, within_bins, chunk)


def _check(domain: Domain, counts: np.ndarray, within_bins: str) -> None:
    if counts.shape != (domain.size,):
        raise ValueError(f"counts must have shape {(domain.size,)}, got {counts.shape}")
    if counts.min() < 0:
        raise ValueError("counts must not be negative")
    if within_bins not in (SMOOTH, MIDPOINT):
        raise ValueError(f"within_bins must be one of {SMOOTH}, {MIDPOINT}, got {within_bins!r}")


def rows_of_cells(
    domain: Domain,
    cells: np.ndarray,
    digest: bytes,
    within_bins: str = SMOOTH,
    chunk: int | None = None,
    means: Mapping[str, float] | None = None,
) -> Iterator[pd.DataFrame]:
    """One row per row of cells, shuffled or in their order, in frames as `rows` makes them.

    cells: (n, d) integers below the columns' sizes. chunk: rows of a frame; None: of many columns fewer, so that a
    frame's values always take about as much memory. means: of columns of numbers or dates, to which their values are
    moved inside their cells, as far as these allow (`BinDensity.toward`).
    Post-processing: no data and no secret enters.
    Raises ValueError if the shape does not fit.
    """
    if cells.ndim != 2 or cells.shape[1] != len(domain.attributes):
        raise ValueError(f"cells must have shape (rows, {len(domain.attributes)}), got {cells.shape}")
    columns = _columns(domain, people_in_rows(domain, cells), digest, within_bins, means or {})
    order = _order(len(cells), digest)
    chunk = chunk or min(FRAME_ROWS, FRAME_VALUES // len(columns))
    for start in range(0, max(len(cells), 1), chunk):
        parts = cells[order[start : start + chunk]].T
        yield pd.DataFrame({c.name: c.values(part) for c, part in zip(columns, parts, strict=True)})


def _columns(
    domain: Domain, people: Sequence[Integers], digest: bytes, within_bins: str, means: Mapping[str, float]
) -> list[_ColumnValues]:
    """people: in each cell of each column. means: that columns are to have."""
    columns = zip(domain.attributes, people, strict=True)
    return [
        _ColumnValues(a, digest + i.to_bytes(4, "big"), _density(a, counts, within_bins, means.get(a.name)))
        for i, (a, counts) in enumerate(columns)
    ]


def _density(
    attribute: Attribute, people: Integers, within_bins: str, mean: float | None
) -> BinDensity | None:
    """Where in its cell a value lies; None: in the middle, or there are no numbers."""
    if within_bins != SMOOTH or not isinstance(attribute, Integer | Real | Date):
        return None
    density = BinDensity(attribute, people[: attribute.regular_size])
    return density if mean is None else density.toward(mean)


def people_in_rows(domain: Domain, cells: np.ndarray) -> list[Integers]:
    """The people in each cell of each column, of rows of cells: (n, d)."""
    columns = zip(cells.T, domain.shape, strict=True)
    return [np.bincount(column, minlength=size).astype(np.int64) for column, size in columns]


def people_in_cells(domain: Domain, counts: Integers) -> list[Integers]:
    """The people in each cell of each column, of (domain.size,) counts."""
    table = counts.reshape(domain.shape)
    every = range(table.ndim)
    margins = [table.sum(axis=tuple(other for other in every if other != axis)) for axis in every]
    let_go(counts)
    return margins


def _frames(
    domain: Domain, counts: np.ndarray, digest: bytes, within_bins: str, chunk: int
) -> Iterator[pd.DataFrame]:
    columns = _columns(domain, people_in_cells(domain, counts), digest, within_bins, {})
    for cells in _shuffled(counts, digest, chunk):
        parts = np.unravel_index(cells, domain.shape)
        yield pd.DataFrame({c.name: c.values(part) for c, part in zip(columns, parts, strict=True)})


def _order(size: int, digest: bytes) -> Integers:
    """The places 0..size-1, so that no row's place tells how it was made."""
    if size > MAX_SHUFFLED:
        return np.arange(size)
    return repeatable(hashlib.sha256(digest + b"order").digest()).permutation(size)


def _shuffled(counts: np.ndarray, digest: bytes, chunk: int) -> Iterator[Integers]:
    """The cell of every person, `chunk` at a time; one empty array without people."""
    people = summed(counts)
    if not 0 < people <= MAX_SHUFFLED:
        yield from _cells(counts, chunk)
        return
    cells = np.concatenate(list(_cells(counts, chunk)))[_order(people, digest)]
    for start in range(0, people, chunk):
        yield cells[start : start + chunk]


def _cells(counts: np.ndarray, chunk: int) -> Iterator[Integers]:
    """The cell of every person, in cell order, `chunk` at a time; one empty array without people."""
    held = np.empty(0, dtype=np.int64)
    for run in runs(counts.size):
        occupied = np.flatnonzero(counts[run])
        ends = np.cumsum(counts[run][occupied])
        done, total = 0, int(ends[-1]) if ends.size else 0
        while done < total:
            people = np.arange(done, min(done + chunk - held.size, total))
            done += people.size
            place = np.searchsorted(ends, people, side="right")
            held = np.concatenate([held, run.start + occupied[place]])
            if held.size == chunk:
                yield held
                held = held[:0]
    if held.size or not counts.any():
        yield held


class _ColumnValues:
    """Turns the cells of one attribute into values; takes one number of its own stream per row. seed: the stream's."""

    def __init__(self, attribute: Attribute, seed: bytes, density: BinDensity | None) -> None:
        self.name = attribute.name
        self._attribute = attribute
        self._density = density
        self._stream = repeatable(hashlib.sha256(seed).digest())
        self._labels = _label_array(attribute) if isinstance(attribute, Categorical | Boolean) else None

    def values(self, cells: np.ndarray) -> ExtensionArray | Floats:
        """cells: (m,) cells of this attribute. Returns a pandas array of m values."""
        if self._labels is not None:
            return self._labels.take(cells)
        missing = cells == self._attribute.regular_size
        regular = np.where(missing, 0, cells)
        within = np.full(cells.size, 0.5)
        if self._density:
            within = self._density.shares(regular, self._stream.random(cells.size))
        return _numbers(self._attribute, regular, within, missing)


def _label_array(attribute: Attribute) -> ExtensionArray:
    """The value of every cell; the cell for missing values is null."""
    null = [pd.NA] * attribute.missing_cell
    if isinstance(attribute, Boolean):
        return pd.array([False, True, *null], dtype="boolean")
    return pd.array([*attribute.regular_labels(), *null], dtype="string")


def _numbers(
    attribute: Attribute, cells: Integers, within: Floats, missing: Flags
) -> ExtensionArray | Floats:
    """cells: without that for missing values."""
    if isinstance(attribute, Integer):
        return _integers(attribute, cells, within, missing)
    if isinstance(attribute, Date):
        return _dates(attribute, cells, within, missing)
    assert isinstance(attribute, Real)
    return _reals(attribute, cells, within, missing)


def _bounds(attribute: Integer | Real | Date, cells: np.ndarray, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """The bounds of each cell's bin, looked up once per distinct cell."""
    distinct, where = np.unique(cells, return_inverse=True)
    table = np.array([attribute.bounds(int(cell)) for cell in distinct], dtype=dtype).reshape(-1, 2)
    return table[where, 0], table[where, 1]


def _integers(
    attribute: Integer, cells: np.ndarray, within: np.ndarray, missing: np.ndarray
) -> ExtensionArray:
    first, last = _bounds(attribute, cells, "int64")
    return pd.arrays.IntegerArray(_between(first, last, within), missing)


def _between(first: Integers, last: Integers, within: Floats) -> Integers:
    """The whole number at share `within` of first..last; 1/2 gives the middle, the upper of two."""
    steps = np.floor(within * (last - first + 1.0)).astype(np.int64)
    between: Integers = first + np.minimum(steps, last - first)
    return between


def _dates(attribute: Date, cells: np.ndarray, within: np.ndarray, missing: np.ndarray) -> ExtensionArray:
    first, last = _bounds(attribute, cells, "datetime64[D]")
    days = _between(first.astype(np.int64), last.astype(np.int64), within).astype("datetime64[D]")
    days[missing] = np.datetime64("NaT")
    dates: ExtensionArray = pd.array(days.astype("datetime64[s]"))
    return dates


def _reals(attribute: Real, cells: Integers, within: Floats, missing: Flags) -> Floats:
    """Values rounded down to a few digits more than the bin's width shows, and kept inside the bin.

    Beside a single value they are rounded up, since it is not in the bin above it.
    """
    lower, upper = _bounds(attribute, cells, "float64")
    first = np.array(attribute.all_edges)[cells]
    grid = 10.0 ** _decimals(upper - lower)
    values: Floats = np.floor((lower + within * (upper - lower)) * grid) / grid
    values = np.where(values < first, np.minimum((np.floor(lower * grid) + 1) / grid, upper), values)
    values = np.clip(values, first, np.maximum(first, np.nextafter(upper, lower)))
    values[missing] = np.nan
    return values


def _decimals(width: Floats) -> Floats:
    digits = np.log10(width, out=np.zeros_like(width), where=width > 0)
    decimals: Floats = np.clip(_DIGITS_IN_BIN - np.floor(digits), 0, _MAX_DECIMALS)
    return decimals
