"""What the job of a histogram takes, before it is asked for: figures that `tests.benchmarks.cells` measured."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from dpportal.publishing.workbook import MOST_LINES
from dpportal.releases.products.effort import Effort
from mechanisms.domain import Attribute, Domain
from mechanisms.protocol import Plan


class Rate(NamedTuple):
    """Of a method: microseconds of one processor, and bytes of memory, for each cell."""

    microseconds: float
    memory: float


# What a process has in memory before it sees a cell, with libraries and runs of cells that are worked on.
AT_REST = 320 * 2**20
SECONDS_AT_REST = 3
RATES = {
    "laplace-histogram": Rate(1.6, 16),
    "gaussian-histogram": Rate(1.7, 16),
    "hierarchical-histogram": Rate(4.8, 80),
    "privelet-histogram": Rate(5.0, 80),
    "dawa-histogram": Rate(5.0, 60),
    "binned-histogram": Rate(4.3, 60),
    "bisection-histogram": Rate(5.0, 60),
    "uniform-grid": Rate(1.7, 70),
    "adaptive-grid": Rate(1.8, 85),
    "quadtree": Rate(4.2, 130),
    "privtree": Rate(2.5, 80),
    "clustered-histogram": Rate(5.2, 90),
    "chosen-histogram": Rate(6.0, 90),
}
# Files of the measured and of the true counts.
KEPT_BYTES = 16
# Of a line of histogram.csv beside labels and numbers that vary: commas, line end, count, standard error.
LINE_BYTES = 14
# A zip's share of what is in it, about; and a workbook's, which is one, of the lines that it repeats.
ZIPPED = 0.25
PERSON_MICROSECONDS = 3
# What synthetic rows take, in two files, for each byte of their labels.
PARQUET = 2
# Labels of a column of more cells are not written out to measure them.
LABELS = 20_000
LONG_LABEL = 24


def effort(plan: Plan, people: int | None) -> Effort:
    """About, for one job that has the machine to itself. people: by the curator's estimate."""
    cells, rows, rate = plan.domain.size, people or 0, RATES[plan.mechanism]
    labels = label_bytes(plan.domain)
    histogram, table = cells * (labels + LINE_BYTES + _number_bytes(plan)), rows * labels * PARQUET
    workbooks = ZIPPED * sum(size for n, size in ((cells, histogram), (rows, table)) if n < MOST_LINES)
    return Effort(
        seconds=SECONDS_AT_REST + (rate.microseconds * cells + PERSON_MICROSECONDS * rows) / 1e6,
        memory=round(AT_REST + rate.memory * cells),
        # Workbooks are in the zip as they are.
        disk=round(KEPT_BYTES * cells + (histogram + table) * (1 + ZIPPED) + 2 * workbooks),
    )


def label_bytes(domain: Domain) -> float:
    """Of a row of labels in a file, with their commas, on average."""
    return sum(map(_mean_label, domain.attributes))


@lru_cache(maxsize=256)
def _mean_label(attribute: Attribute) -> float:
    """Bytes of a label in the file, on average."""
    if attribute.size > LABELS:
        return LONG_LABEL
    return sum(len(label.encode()) for label in attribute.labels()) / attribute.size


def _number_bytes(plan: Plan) -> int:
    """Of the noisy count and the two ends of its interval, where there is one."""
    return (3 if plan.half_width is not None else 1) * _one_number(plan)


def _one_number(plan: Plan) -> int:
    """A comma, and a sign and as many digits as the noise has; or six digits of what is estimated from many."""
    if plan.standard_error is None or plan.standard_error != plan.noise.standard_error:
        return 8
    return 2 + len(str(round(plan.standard_error)))
