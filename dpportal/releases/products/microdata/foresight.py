"""What the job of a synthetic table takes, before it is asked for: figures by `tests.benchmarks.microdata`."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpportal.releases.products.effort import Effort
from dpportal.releases.products.histogram.foresight import label_bytes
from mechanisms.microdata.coarsening import FEWEST, MOST, most_groups_of
from mechanisms.microdata.foresight import memory, row_count
from mechanisms.microdata.latent_classes import (
    CELL_ROUNDS,
    COARSENESS,
    GROUP_ROUNDS,
    MOST_REFINED,
    MOST_SETTLED,
    LatentClasses,
)
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.settling import MOST_PAIRS

# What a worker's process has in memory before it reads a row: its libraries.
AT_REST = 300 * 2**20
SECONDS_AT_REST = 1
# Of one processor: for every row and pair of columns that is counted; for every value of a row that is written.
PAIR_NANOSECONDS, WRITTEN_MICROSECONDS = 12, 0.7
# For every pair of columns that is counted, however few rows.
COUNTED_SECONDS = 0.0001
# For every pair of columns that the rows have, and each cell of its table, that the curator's comparison goes through.
COMPARED_SECONDS, COMPARED_MICROSECONDS = 0.003, 0.7
# For every value of a row that a method makes; the DP-GAN's is from a single table (Adult).
MADE_MICROSECONDS = {
    "latent-classes": 0.5,
    "clusters": 1.0,
    "tree-of-pairs": 0.6,
    "principal-components": 0.5,
    "private-partition": 1.0,
    "dp-gan": 50.0,
    "independent-columns": 0.3,
}
# Of latent classes: of all fits for every group of a column; and in a round of exchanges for every row, for every
# value of a pair of rows, and for every pair of cells of the column with all others.
FITTED_SECONDS, FITTED_BESIDE = 0.003, 60
DEALT_NANOSECONDS, EXCHANGED_NANOSECONDS, MOVED_NANOSECONDS = 90, 50, 20
# Synthetic rows as CSV and as Parquet; and both again in the zip. Of a small release most is the report and the like.
FILES, DISK_AT_REST = 2, 100 * 2**10
# Files of the measured and of the true counts.
KEPT_BYTES = 16


def effort(plan: MicrodataPlan, people: int | None) -> Effort:
    """About, for one job that has the machine to itself. people: by the curator's estimate.

    On shapes of 2 to 60 columns, 10 to 200 values and a thousand to a million people time and memory were within a
    factor of two.
    """
    counted, kept = people or 0, _kept(plan)
    rows, pairs, compared = row_count(plan, counted), _pairs(plan.domain.shape), _pairs(kept)
    seconds = (
        SECONDS_AT_REST
        + (COUNTED_SECONDS + PAIR_NANOSECONDS * 1e-9 * counted) * pairs
        + (WRITTEN_MICROSECONDS + MADE_MICROSECONDS[plan.mechanism]) * 1e-6 * rows * len(kept)
        + COMPARED_SECONDS * compared
        + COMPARED_MICROSECONDS * 1e-6 * plan.tables.size * compared / pairs
    )
    if plan.mechanism == LatentClasses.name:
        seconds += _fits(plan, counted) + _exchanges(plan, rows)
    written = rows * label_bytes(plan.domain) * FILES
    return Effort(
        seconds=seconds,
        memory=AT_REST + memory(plan, counted),
        disk=DISK_AT_REST + KEPT_BYTES * plan.cells + round(written),
    )


def _kept(plan: MicrodataPlan) -> Sequence[int]:
    """The cells of the columns that the rows have: where some are chosen, of as many of the largest."""
    return plan.domain.shape if plan.keep is None else sorted(plan.domain.shape)[-plan.keep :]


def _pairs(shape: Sequence[int]) -> int:
    return len(shape) * (len(shape) - 1) // 2


def _fits(plan: MicrodataPlan, people: int) -> float:
    """Seconds of the mixture's fits: more groups, and of more columns more pairs of them that are measured."""
    most = math.sqrt(COARSENESS * max(1, people) / (0.4 * plan.pair_deviation))
    shape = _kept(plan)
    groups = sum(min(most_groups_of(size), max(FEWEST, min(MOST, most))) for size in shape)
    return FITTED_SECONDS * groups * (1 + len(shape) / FITTED_BESIDE)


def _exchanges(plan: MicrodataPlan, rows: int) -> float:
    """Seconds of settling rows."""
    shape = _kept(plan)
    if len(shape) > MOST_SETTLED:
        return 0.0
    refined = sum(shape) <= MOST_REFINED
    sizes = shape if refined else [most_groups_of(size) for size in shape]
    each = (
        DEALT_NANOSECONDS * rows
        + EXCHANGED_NANOSECONDS * min(rows // 2, MOST_PAIRS) * len(shape)
        + MOVED_NANOSECONDS * sum(sizes) ** 2
    )
    return (GROUP_ROUNDS + CELL_ROUNDS * refined) * each * 1e-9
