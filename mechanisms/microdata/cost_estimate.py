"""What to expect of a plan before anything is spent: errors from noise alone, and memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

from mechanisms.microdata.cell_rows import empty_rows
from mechanisms.microdata.coarsening import groups_for
from mechanisms.microdata.limits import MOST_ROWS
from mechanisms.microdata.mechanism import Microdata, margin_laws, margin_variances
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.spending import table_laws
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

    pairs: how many are measured at first; `expected_pair_error` has their error. useless: whether columns themselves
    drown in noise.
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


def expected_pair_error(method: Microdata, plan: MicrodataPlan, people: int) -> float | None:
    """Expected total variation that noise alone causes in a pair's groups; None where the method measures no pair.

    Of the first tables that are measured, over as many groups as so many people make of an average column. About, since
    groups follow from noisy counts: `pair_levels.pair_error` states it once they are measured.
    """
    step = next((name for name in plan.shares if name.startswith(TABLES)), None)
    if step is None or method.coarseness is None:
        return None
    shape = plan.shape_of_rows
    most = groups_for(people, plan.pair_deviation, method.coarseness) + 1  # one of missing values
    cells = [a * b for a, b in combinations((min(size, most) for size in shape), 2)]
    typical = sum(cells) / len(cells)
    tables = max(len(shape) - 1, len(plan.wishes.required))
    law = table_laws([round(typical)] * tables, plan.step(step))[0]
    return min(1.0, typical * law.mean_absolute / (2 * people))


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
