"""Sums over a box of a synthetic table's columns: from noisy tables where one holds the box, else from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

import numpy as np

from mechanisms import box_queries
from mechanisms.arrays import Flags, Integers
from mechanisms.box_queries import CellSum, Picks
from mechanisms.microdata.margins import number_of_rows
from mechanisms.microdata.mechanism import Microdata, margin_laws, margin_variances
from mechanisms.microdata.packing import unpack_measured
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.tables import split
from mechanisms.noise import NoiseLaw
from mechanisms.noise.sum_quantiles import integer_half_widths

# Rows that are looked up at once.
_CHUNK = 2**16


def cell_sum(
    mechanism: Microdata, plan: MicrodataPlan, values: Integers, rows: np.ndarray | None, picks: Picks
) -> CellSum | None:
    """How many rows of the data lie in the box.

    values: the measurement. rows: (columns, n) cells of the synthetic rows, those of `MicrodataResult.columns`; None
    where they are not at hand. A box of one column, or of two whose picked cells are whole groups of a measured table,
    is a plain sum of counts with independent noise; of several such sums that with the least interval is taken. Any
    other box is only modelled: the share of synthetic rows in it times the estimated number of rows, which has no
    interval. None if the rows lack one of its columns.
    """
    noisy, further, _sums = unpack_measured(plan, values)
    requested = box_queries.narrowed(plan.domain.shape, picks)
    if not requested and plan.total is not None:
        return CellSum(float(plan.total), 0.0, None)
    margins = split(noisy, plan.domain.shape)
    columns = list(range(len(margins))) if plan.keep is None else further.pop(0).tolist()
    if len(requested) < 2:
        sums = _of_columns(plan, margins, requested or tuple(range(len(margins))), picks)
        return min(sums, key=_reach)
    if not set(requested) <= set(columns):
        return None
    within = {columns.index(j): picks[j] for j in requested}
    measured = list(_of_tables(mechanism, plan.of_columns(columns), further, within))
    if measured:
        return min(measured, key=_reach)
    if rows is None:
        return None
    total = number_of_rows(margins, margin_variances(plan), plan.total)
    picked = {columns.index(j): box_queries.flags((plan.domain.shape[j],), (picks[j],)) for j in requested}
    return CellSum(total * _share(rows, picked), None, None)


def _reach(estimate: CellSum) -> float:
    return estimate.half_width or 0.0


def _of_columns(
    plan: MicrodataPlan, margins: list[Integers], columns: tuple[int, ...], picks: Picks
) -> Iterator[CellSum]:
    laws = margin_laws(plan)
    return (_plain_sum(margins[j][picks[j]], laws[j]) for j in columns)


def _of_tables(
    mechanism: Microdata, plan: MicrodataPlan, further: list[Integers], within: dict[int, Integers]
) -> Iterator[CellSum]:
    """The sums of measured tables that count the picked cells of two columns and no others. within: by column."""
    recorded = mechanism.recorded(plan, further) if len(within) == 2 else None
    if recorded is None:
        return
    grouping, tables = recorded
    picked = [_complete_groups(grouping.groups[column], places) for column, places in within.items()]
    if picked[0] is None or picked[1] is None:
        return
    for table in tables:
        if table.pair == tuple(within):
            yield _plain_sum(table.values[np.ix_(picked[0], picked[1])], table.noise)


def _complete_groups(groups: Integers, places: Integers) -> Integers | None:
    """The groups that the picked cells make up; None if they cut one."""
    picked = np.unique(groups[places])
    return picked if np.isin(groups, picked).sum() == places.size else None


def _plain_sum(counts: Integers, law: NoiseLaw) -> CellSum:
    half_width = float(integer_half_widths(law, np.array([counts.size], dtype=np.int64))[0])
    return CellSum(float(counts.sum()), half_width, counts.size)


def _share(rows: np.ndarray, within: Mapping[int, Flags]) -> float:
    """The share of the rows whose cells are all picked. within: by column, of each cell whether it is.

    A look-up of each cell, some rows at a time, so that a processor's cache holds them: a page waits for it.
    """
    starts = range(0, rows.shape[1], _CHUNK)
    inside = sum(int(_all_picked(rows[:, start : start + _CHUNK], within).sum()) for start in starts)
    return inside / int(rows.shape[1])


def _all_picked(rows: np.ndarray, within: Mapping[int, Flags]) -> Flags:
    flags = (picked.take(rows[column]) for column, picked in within.items())
    return reduce(np.logical_and, flags)
