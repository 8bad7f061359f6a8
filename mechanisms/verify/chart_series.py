"""What a series of a chart may show: columns of a bundle's tables, whole or of the lines with one label."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mechanisms.inert_text import as_shown, inert
from mechanisms.verify.chart_orders import NOISY, cell_orders, line_orders

# Of a series' numbers so many at most are not of the column that it is compared with.
SHARE = 0.5
_WRITTEN = 1e-5
# Lines of a series, and labels of a column by which lines are chosen, at most.
_LONGEST, _MOST_LABELS = 2000, 64
# Bars of a small picture, and the tallest of them by which its scale is told.
MOST_SMALL, _TALLEST = 30, 3
# Counts of a column of rows, of more of which neighbours are added up first, or the largest are chosen.
_MOST_CELLS = 60
# In steps, where marks of up to seven groups stand about the middle of one.
_SHIFTS = np.arange(-6, 7) * 0.05


@dataclass(frozen=True)
class MatchedSeries:
    """Which of a shape's numbers are not of the series that it shows, and the columns that this may be.

    in_order: whether each column has as many numbers as the shape; else they are ascending.
    """

    wrong: np.ndarray
    columns: list[np.ndarray]
    in_order: bool

    def at(self, place: int, value: float, tolerance: float) -> np.ndarray:
        """The numbers that the shape at this place, which is about as high as the value, may stand for."""
        if self.in_order:
            return np.array([own[place] for own in self.columns])
        near = [own[np.abs(own - value) <= tolerance + 1e-5 * abs(value)] for own in self.columns]
        return np.concatenate(near)


class ChartSeries:
    """What a series of a chart may show: columns of the tables, of all lines and of those with one label."""

    def __init__(
        self,
        tables: Mapping[str, pd.DataFrame],
        labels: set[str],
        weights: Iterable[np.ndarray] = (),
        series: Iterable[np.ndarray] = (),
    ) -> None:
        """weights: of strategies, sums × cells, which maps show. series: what a chart adds up itself, in its order."""
        self.labels = {*labels, *map(as_shown, labels)}
        # What columns are called on pages, which stands over groups.
        self.names: set[str] = set()
        self._tables = [table for table in tables.values() if len(table) <= _LONGEST]
        self.sizes = frozenset(size for table in tables.values() for size in _sizes(table))
        every = [each for table in tables.values() for each in _series(table)]
        every += [each.ravel() for each in weights]
        # Where an axis of numbers begins and ends: with the first line and the last, or with a column's bounds.
        self.axes = {(1.0, float(len(table))) for table in tables.values()}
        if "density" in tables:
            every += list(_steps(tables["density"]))
            self.axes |= set(_spans_of_steps(tables["density"]))
        # By their bytes, since many are the same; no chart has as many shapes as the longest.
        own = {each.tobytes(): each for each in every if len(each) <= _LONGEST and np.isfinite(each).all()}
        self.every = [(each, np.sort(each)) for each in own.values()]
        # Of what is below nobody a small picture shows nothing.
        above = [(np.maximum(own, 0), np.maximum(known, 0)) for own, known in self.every]
        few = (np.maximum(shown, 0) for own, _known in self.every for shown in _thumbnail(own))
        thinned = (_thinned(own) for own in (*(own for own, _known in above), *few) if len(own) > MOST_SMALL)
        self._above = [*above, *((own, np.sort(own)) for own in thinned)]
        self._shown = _by_length(series)

    def lines_of(self, label: str) -> Iterator[np.ndarray]:
        """Of each line that has this label the numbers that a chart may show of it, NaN where there are none."""
        for table in self._tables:
            named = table.isin([label, inert(label)]).any(axis=1).to_numpy()
            if named.any():
                own = _numbers(table)
                every = (
                    np.column_stack([*own.values(), *_integer_counts(own)])
                    if own
                    else np.zeros((len(table), 0))
                )
                yield from np.hstack([every, 100 * every])[named]

    def match(
        self,
        values: np.ndarray,
        tolerance: np.ndarray | float,
        *,
        scaled: bool = False,
        is_cut: bool = False,
    ) -> MatchedSeries | None:
        """The series that a shape shows; None where it shows none of them.

        scaled: whether only the sizes beside the largest are known. is_cut: whether what is below 0 has no shape.
        """
        for in_order in (True, False):
            every = self._above if scaled or is_cut else self.every
            nearest = [
                (own if in_order else known, _wrong(values, own / one, known / one, tolerance, in_order))
                for own, known in every
                if not in_order or len(own) == len(values)
                for one in (_units(values, own, known, in_order) if scaled else [1.0])
            ]
            if in_order and not scaled and len(values) in self._shown:
                nearest += _nearest(values, self._shown[len(values)], tolerance)
            fewest = min((int(wrong.sum()) for _own, wrong in nearest), default=len(values))
            if nearest and fewest <= SHARE * len(values):
                best = [(own, wrong) for own, wrong in nearest if wrong.sum() == fewest]
                return MatchedSeries(best[0][1], [own for own, _wrong in best], in_order)
        return None


def _by_length(series: Iterable[np.ndarray]) -> dict[int, np.ndarray]:
    """Those of one length as one array: (n, length), each once."""
    every: dict[int, dict[bytes, np.ndarray]] = {}
    for each in series:
        every.setdefault(len(each), {})[each.tobytes()] = each
    return {length: np.array(list(own.values())) for length, own in every.items()}


def _nearest(
    values: np.ndarray, series: np.ndarray, tolerance: np.ndarray | float
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of many series those with fewest other numbers, and which these are."""
    wrong = np.abs(values - series) > tolerance + 1e-5 * np.abs(values)
    number = wrong.sum(axis=1)
    return [(series[place], wrong[place]) for place in np.flatnonzero(number == number.min())]


def _units(values: np.ndarray, own: np.ndarray, known: np.ndarray, in_order: bool) -> list[float]:
    """What the size 1 may stand for: by most shapes of a series in order, and by its tallest, whose tenths of a pixel
    matter least; by the largest of another."""
    shown = (own > 0) & (values > 0) if in_order else np.zeros(0, bool)
    if not shown.any():
        return [float(known[-1] or 1.0)]
    ratios, tallest = own[shown] / values[shown], np.argsort(-values[shown])[:_TALLEST]
    return [float(np.median(ratios)), *ratios[tallest].tolist()]


def _thumbnail(counts: np.ndarray) -> Iterator[np.ndarray]:
    """What a small picture shows of the counts of many cells: sums of neighbours, or the largest in their order."""
    if len(counts) > _MOST_CELLS:
        width = 2 ** math.ceil(math.log2(len(counts) / _MOST_CELLS))
        yield np.add.reduceat(counts, np.arange(0, len(counts), width))
        yield counts[np.sort(np.argsort(-counts, kind="stable")[:_MOST_CELLS])]


def _thinned(values: np.ndarray) -> np.ndarray:
    """Means of neighbours, as many as a small picture has bars."""
    return np.array([part.mean() for part in np.array_split(values, MOST_SMALL)])


def _series(table: pd.DataFrame) -> Iterator[np.ndarray]:
    own = _numbers(table)
    words = [name for name in table.columns if name not in own or _are_labels(table[name])]
    chosen = [np.ones(len(table), bool)]
    for name in words:
        texts = table[name].to_numpy()
        chosen += [texts == text for text in list(dict.fromkeys(texts))[:_MOST_LABELS]]
    for column in (*own.values(), *_integer_counts(own)):
        for lines in chosen:
            known = column[lines & np.isfinite(column)]
            if len(known):
                yield from (known, 100 * known)
    every = [*own.values(), *_integer_counts(own)]
    yield from (column[lines] for lines in line_orders(table) for column in every)
    yield from (column[lines] for lines in cell_orders(table) for column in every)


def _numbers(table: pd.DataFrame) -> dict[str, np.ndarray]:
    """The columns that have numbers."""
    numbers = {name: pd.to_numeric(table[name], errors="coerce").to_numpy(float) for name in table.columns}
    return {name: column for name, column in numbers.items() if np.isfinite(column).any()}


def _are_labels(texts: pd.Series) -> bool:
    """Whether numbers are labels: other texts stand among them, or each is on as many lines as the others."""
    if (pd.to_numeric(texts, errors="coerce").isna() & (texts != "")).any():
        return True
    lines = texts.value_counts().to_numpy()
    return bool(lines[0] > 1 and (lines == lines[0]).all())


def _sizes(table: pd.DataFrame) -> Iterator[int]:
    """How many values each column of words has, with and without cells that the portal added."""
    for name in table.columns:
        values = table[name].nunique()
        yield from (values, values - 1, values - 2) if values <= _LONGEST else ()


def _integer_counts(columns: Mapping[str, np.ndarray]) -> Iterator[np.ndarray]:
    """Estimates of people as whole numbers, with the widest margin, which some charts give to all."""
    names = list(columns)
    yield from (np.round(columns[name]) for name in (NOISY,) if name in columns)
    for place, name in enumerate(names):
        upper = f"{name.removesuffix('lower')}upper"
        if name.endswith("lower") and upper in columns:
            widest = float(np.nanmax(columns[upper] - columns[name])) / 2
            # Ends are written with six digits, so that a whole margin may seem to be a little more.
            off = _WRITTEN * float(np.nanmax(np.abs([columns[name], columns[upper]])))
            for each in names[max(0, place - 3) : place]:
                rounded = np.round(columns[each])
                yield rounded
                for reach in {math.ceil(widest - off), math.ceil(widest)}:
                    yield from (rounded - reach, rounded + reach)


def _steps(density: pd.DataFrame) -> Iterator[np.ndarray]:
    """Shares in percent of each column's and group's steps, the ends of their intervals, and how far these are."""
    for _edges, shares in _densities(density):
        share, lower, upper = 100 * shares
        yield from (share, lower, upper, share - lower, upper - share)


def _spans_of_steps(density: pd.DataFrame) -> Iterator[tuple[float, float]]:
    """The middles of the first step and the last one, where marks stand: those of several groups beside each other."""
    for edges, _shares in _densities(density):
        width = edges[1] - edges[0]
        for shift in _SHIFTS * width:
            yield float(edges[0] + width / 2 + shift), float(edges[-1] - width / 2 + shift)


def numbers_of_steps(density: pd.DataFrame) -> list[int]:
    """Of each column and group."""
    return [shares.shape[1] for _edges, shares in _densities(density)]


def _densities(density: pd.DataFrame) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Edges of the steps of each column and group; and (3, steps) shares and the ends of their intervals."""
    names = ("first", "last", "share", "interval_lower", "interval_upper")
    numbers = density.assign(**{name: pd.to_numeric(density[name], errors="coerce") for name in names})
    for _name, own in numbers.groupby(["column", "whose", "group"], sort=False):
        first, last, *shares = (own[name].to_numpy(float) for name in names)
        if np.isfinite(first).all() and len(first):
            yield np.append(first, last[-1]), np.array(shares)


def _wrong(
    values: np.ndarray, own: np.ndarray, known: np.ndarray, tolerance: np.ndarray | float, in_order: bool
) -> np.ndarray:
    """own: a series, of as many numbers if in order; known: the same, ascending."""
    near = tolerance + 1e-5 * np.abs(values)
    if in_order:
        return np.asarray(np.abs(values - own) > near)
    place = np.clip(np.searchsorted(known, values), 1, max(1, len(known) - 1))
    after = known[np.minimum(place, len(known) - 1)]
    return np.asarray(np.minimum(np.abs(values - known[place - 1]), np.abs(values - after)) > near)
