"""What the job of a histogram takes, before it is asked for: figures that `tests.benchmarks.cells` measured."""

from __future__ import annotations

from dpportal.releases.products.shared.job_cost import JobCost, label_bytes
from mechanisms import registry
from mechanisms.protocol import Plan
from mechanisms.tabular.workbook_parts import MOST_LINES

# What a process has in memory before it sees a cell, with libraries and runs of cells that are worked on.
AT_REST = 320 * 2**20
SECONDS_AT_REST = 3
# Files of the true counts and of the measured ones, these as they were committed, in the bundle and in its zip.
COUNT_FILE_BYTES = 32
# Of a line of histogram.csv beside labels and numbers that vary: commas, line end, count, standard error.
LINE_BYTES = 14
# What a line of SDMX-CSV has besides: it names the release.
SDMX_BYTES = 84
# A zip's share of what is in it, about; and a workbook's, which is one, of the lines that it repeats.
ZIPPED = 0.25
PERSON_MICROSECONDS = 3
# What synthetic rows take, in two files, for each byte of their labels.
PARQUET = 2


def job_cost(plan: Plan, people: int | None) -> JobCost:
    """About, for one job that has the machine to itself. people: by the curator's estimate."""
    cells, rows, rate = plan.domain.size, people or 0, registry.mechanism(plan.mechanism).cost_per_cell
    labels = label_bytes(plan.domain)
    histogram, table = cells * (labels + LINE_BYTES + _number_bytes(plan)), rows * labels * PARQUET
    workbooks = ZIPPED * sum(size for n, size in ((cells, histogram), (rows, table)) if n < MOST_LINES)
    observations = histogram + SDMX_BYTES * cells if cells < MOST_LINES else 0
    files = histogram + table + observations
    return JobCost(
        seconds=SECONDS_AT_REST + (rate.microseconds * cells + PERSON_MICROSECONDS * rows) / 1e6,
        memory=round(AT_REST + rate.memory * cells),
        # Workbooks are in the zip as they are.
        disk=round(COUNT_FILE_BYTES * cells + files * (1 + ZIPPED) + 2 * workbooks),
    )


def _number_bytes(plan: Plan) -> int:
    """Of the noisy count and the two ends of its interval, where there is one."""
    return (3 if plan.half_width is not None else 1) * _one_number(plan)


def _one_number(plan: Plan) -> int:
    """A comma, and a sign and as many digits as the noise has; or six digits of what is estimated from many."""
    if plan.standard_error is None or plan.standard_error != plan.noise.standard_error:
        return 8
    return 2 + len(str(round(plan.standard_error)))
