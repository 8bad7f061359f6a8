"""What to expect of a plan before anything is spent: errors from noise alone, and memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mechanisms.microdata.cell_rows import empty_rows
from mechanisms.microdata.limits import MOST_ROWS
from mechanisms.microdata.mechanism import Microdata, margin_laws, margin_variances
from mechanisms.microdata.plan import MeasuredTable, MicrodataPlan
from mechanisms.microdata.whole_rows import BLOCK, WholeRows

# Of rows, and of one column of them in 64 bits, how many are in memory at once.
ROW_COPIES, COLUMN_COPIES = 3, 6
# Of people's packed rows, and of a block of them unpacked.
PACKED_COPIES, BLOCK_COPIES = 3, 1
# Standard errors that a noisy total is seldom too large by: once in a thousand releases.
FAR = 3
# Above this share of people in a wrong cell a table says next to nothing.
USELESS = 0.5
# What the names of steps that measure tables of pairs begin with.
TABLES = "tables"


@dataclass(frozen=True)
class Foresight:
    """Expected total variation that noise alone causes in a column's counts, on average.

    pairs: how many are measured at first. What noise does to them follows from their groups, and these from noisy
    counts: `pair_error` states it once they are measured. useless: whether columns themselves drown in noise.
    """

    column: float
    pairs: int
    useless: bool


def foresee(plan: MicrodataPlan, people: int) -> Foresight:
    """For so many people, stated by the curator. E|noise| of every cell, summed, is twice the people who would move."""
    laws = margin_laws(plan)
    sizes = plan.domain.shape
    column = sum(c * law.mean_absolute for c, law in zip(sizes, laws, strict=True)) / (
        2 * people * len(sizes)
    )
    measured = (plan.keep or len(sizes)) - 1 if any(step.startswith(TABLES) for step in plan.shares) else 0
    return Foresight(min(1.0, column), measured, column > USELESS)


def pair_error(tables: Sequence[MeasuredTable], people: int) -> float | None:
    """Expected total variation that noise alone causes in a measured pair's groups, on average; None of no pair.

    people: a public number, as the noisy total is. E|noise| of every cell, as in `foresee`; less where a pair was
    measured several times, as the tables' precisions add up.
    """
    of_pair: dict[tuple[int, int], list[MeasuredTable]] = {}
    for table in tables:
        of_pair.setdefault(table.pair, []).append(table)
    moved = [own[0].values.size * _mean_absolute(own) for own in of_pair.values()]
    return min(1.0, sum(moved) / (2 * people * len(moved))) if moved else None


def _mean_absolute(tables: Sequence[MeasuredTable]) -> float:
    """E|noise| of a pair's count: of one table by its law; of several, weighted by precision, about a normal one's."""
    if len(tables) == 1:
        return tables[0].noise.mean_absolute
    return math.sqrt(2 / (math.pi * sum(1 / table.variance for table in tables)))


def row_count(plan: MicrodataPlan, people: int) -> int:
    """How many rows are made of so many people; where the noisy total says it, as many as it seldom exceeds."""
    return min(MOST_ROWS, plan.rows or people + math.ceil(FAR * total_deviation(plan)))


def total_deviation(plan: MicrodataPlan) -> float:
    """Standard error of the estimated number of people, `margins.number_of_rows`; 0 where it is public."""
    if plan.total is not None:
        return 0.0
    precision = [1 / (c * v) for c, v in zip(plan.domain.shape, margin_variances(plan), strict=True)]
    return 1 / math.sqrt(math.fsum(precision))


def memory(method: Microdata, plan: MicrodataPlan, people: int) -> int:
    """Bytes of arrays, about: counted tables twice; rows while they are made; and what the method adds."""
    rows = row_count(plan, people)
    cell_bytes = ROW_COPIES * empty_rows(0, plan.domain.shape).itemsize
    taken = 16 * plan.cells + rows * (8 * COLUMN_COPIES + cell_bytes * len(plan.shape_of_rows))
    if method.whole_rows:
        taken += _of_whole_rows(plan, people)
    return taken + method.further_memory(plan, people, rows)


def _of_whole_rows(plan: MicrodataPlan, people: int) -> int:
    """Bytes of people's rows, packed, and of a block of them in 64 bits."""
    words = len(WholeRows(plan.domain.shape).words)
    block = BLOCK_COPIES * 8 * min(BLOCK, people) * len(plan.domain.shape)
    return PACKED_COPIES * 8 * words * people + block
