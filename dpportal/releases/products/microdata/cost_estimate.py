"""What the job of a synthetic table takes, before it is asked for: figures by `tests.benchmarks.microdata`."""

from __future__ import annotations

from collections.abc import Sequence

from dpportal.releases.products.microdata.assessment import MOST_ROWS
from dpportal.releases.products.shared.job_cost import JobCost, label_bytes
from mechanisms import registry
from mechanisms.microdata.column_sums import summed_columns
from mechanisms.microdata.cost_estimate import memory, row_count
from mechanisms.microdata.joint_counts import JointCounts
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.replicates import TABLES, most_rows, replicate_memory, replicate_seconds
from mechanisms.tabular.workbook_parts import MOST_LINES

# What a worker's process has in memory before it reads a row: its libraries.
AT_REST = 300 * 2**20
SECONDS_AT_REST = 1
# Of one processor: for every row and pair of columns that is counted by itself, or for every row and two cells of all
# columns where pairs are counted at once; for every value of a row that is read.
PAIR_NANOSECONDS, JOINT_NANOSECONDS, READ_MICROSECONDS = 12, 0.012, 0.4
# For every value of a row that is written: as CSV and as Parquet, in a workbook, and all of them in the zip.
WRITTEN_MICROSECONDS, WORKBOOK_MICROSECONDS, ZIPPED_MICROSECONDS = 0.5, 0.5, 0.3
# For every pair of columns that is counted, however few rows.
COUNTED_SECONDS = 0.0001
# For every pair of columns that the rows have, and each cell of its table, that the curator's comparison goes through;
# for every column of real rows, at most so many, among which the nearest ones are sought.
COMPARED_SECONDS, COMPARED_MICROSECONDS = 0.0002, 0.7
NEAREST_SECONDS = 0.025
# Synthetic rows as CSV and as Parquet; and both again in the zip. Of a small release most are the reports and the like.
FILES, DISK_AT_REST = 2, 220 * 2**10
# Files of the true counts and of the measured ones, these as they were committed, in the bundle and in its zip.
COUNT_FILE_BYTES = 32


def job_cost(plan: MicrodataPlan, people: int | None) -> JobCost:
    """About, for one job that has the machine to itself. people: by the curator's estimate.

    On shapes of 2 to 60 columns, 10 to 200 values and a thousand to a million people time and memory were within a
    factor of two; so were those of 250 columns of 4 values and 20,000 to 100,000 people.
    """
    counted, shape, method = people or 0, plan.shape_of_rows, registry.microdata(plan.mechanism)
    rows, pairs, compared = row_count(plan, counted), _pairs(plan.domain.shape), _pairs(shape)
    seconds = (
        SECONDS_AT_REST
        + COUNTED_SECONDS * pairs
        + _counting(plan.domain.shape, counted)
        + READ_MICROSECONDS * 1e-6 * counted * len(plan.domain.shape)
        + (_written(rows) + method.microseconds_per_value) * 1e-6 * rows * len(shape)
        + COMPARED_SECONDS * compared
        + _counting(shape, rows)
        + COMPARED_MICROSECONDS * 1e-6 * plan.tables.size * compared / pairs
        + NEAREST_SECONDS * len(shape) * min(1, counted / MOST_ROWS)
        + method.further_seconds(plan, counted, rows)
        + _of_replicates(plan, rows)
        + _of_sums(plan, counted)
    )
    written = (rows + _replicated(plan, rows)) * label_bytes(plan.domain) * FILES
    return JobCost(
        seconds=seconds,
        memory=AT_REST + memory(method, plan, counted) + replicate_memory(plan),
        disk=DISK_AT_REST + COUNT_FILE_BYTES * plan.cells + round(written),
    )


def _replicated(plan: MicrodataPlan, rows: int) -> int:
    """Rows of all tables for standard errors."""
    return (TABLES + 1) * min(rows, most_rows(len(plan.domain.shape))) if plan.replicates else 0


def _of_replicates(plan: MicrodataPlan, rows: int) -> float:
    """Seconds of fitting and writing the tables for standard errors."""
    replicated = _replicated(plan, rows)
    return replicate_seconds(plan) + _written(replicated) * 1e-6 * replicated * len(plan.domain.shape)


def _of_sums(plan: MicrodataPlan, people: int) -> float:
    """Seconds of reading the columns that are added up once more."""
    return READ_MICROSECONDS * 1e-6 * people * len(summed_columns(plan.domain)) if plan.sums else 0.0


def _written(rows: int) -> float:
    """Microseconds of a value that is written; more rows than a sheet holds are in no workbook."""
    workbook = WORKBOOK_MICROSECONDS if rows < MOST_LINES else 0
    return WRITTEN_MICROSECONDS + workbook + ZIPPED_MICROSECONDS


def _counting(shape: Sequence[int], rows: int) -> float:
    """Seconds of counting all pairs of columns."""
    if JointCounts.is_faster(shape, _pairs(shape)):
        return JOINT_NANOSECONDS * 1e-9 * rows * sum(shape) ** 2
    return PAIR_NANOSECONDS * 1e-9 * rows * _pairs(shape)


def _pairs(shape: Sequence[int]) -> int:
    return len(shape) * (len(shape) - 1) // 2
