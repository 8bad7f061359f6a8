"""The data files of a histogram's bundle: synthetic rows and the histogram, written piece by piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from dpportal.publications import codebook
from dpportal.publications.csv_lines import LINES, Lines, fields, six_digits
from dpportal.publications.table import Table
from dpportal.releases.products.shared.synthetic_files import write_synthetic
from mechanisms.arrays import let_go
from mechanisms.domain import Domain
from mechanisms.inert_text import inert
from mechanisms.protocol import Plan, Result
from mechanisms.synthesis.table import SMOOTH
from mechanisms.tabular.label_columns import label_columns
from mechanisms.tabular.sdmx import Observed

CELLS = "histogram.csv"
NUMBERS = {
    "noisy_count": ("number", "Estimate of the count with noise; may be negative"),
    "count": ("integer", "Count made into that of a possible table, never negative"),
    "standard_error": (
        "number",
        "Standard error of the noisy count, in rows; empty if it depends on the data",
    ),
    "interval_lower": ("number", "Lower end of the margin (95 %) of the true count"),
    "interval_upper": ("number", "Upper end of the margin (95 %) of the true count"),
}
ABOUT_COUNTS = "Noisy and adjusted counts of every cell"
ABOUT_WITH_MARGINS = "Noisy and adjusted counts of every cell, with standard errors and margins (95 %)"


def write(plan: Plan, result: Result, seed: bytes, folder: Path, is_plain: bool) -> list[Table]:
    """The synthetic table in two formats, and the histogram. is_plain: whether each count has noise of its own."""
    histogram = folder / CELLS
    _write_histogram(plan, result, histogram)
    stated = plan.half_width is not None or result.half_width is not None
    about = ABOUT_WITH_MARGINS if stated else ABOUT_COUNTS
    within_bins = str(plan.parameters.get("within_bins", SMOOTH))
    return [
        *write_synthetic(plan.domain, result.counts, seed, folder, within_bins),
        Table(
            histogram,
            about,
            _histogram_fields(plan.domain),
            has_independent_cells=is_plain,
            observed=[Observed("noisy_count", "interval_lower", "interval_upper", "standard_error")],
            aside=["count"],
        ),
        codebook.write(plan.domain, folder),
    ]


def _write_histogram(plan: Plan, result: Result, path: Path) -> None:
    """Write a line for every cell: its labels, noisy count, adjusted count, standard error, interval."""
    columns = label_columns(plan.domain)
    labels = [(column.axis, fields(map(inert, column.labels))) for column in columns]
    with path.open("wb") as file:
        lines = Lines(file, [*(column.name for column in columns), *NUMBERS])
        for start in range(0, plan.domain.size, LINES):
            cells = slice(start, min(start + LINES, plan.domain.size))
            places = np.unravel_index(np.arange(cells.start, cells.stop), plan.domain.shape)
            texts = [names.take(pa.array(places[axis])) for axis, names in labels]
            raw, counts = result.raw[cells], result.counts[cells]
            lines.write(*texts, raw, counts, *_error_columns(plan, result, cells))
            let_go(result.raw)


def _error_columns(plan: Plan, result: Result, cells: slice) -> tuple[str | np.ndarray, ...]:
    """Standard error and interval of some cells; empty where the method's error depends on the data."""
    half_width = plan.half_width if result.half_width is None else result.half_width[cells]
    if half_width is None:
        return ("", "", "")
    raw = result.raw[cells]
    error = "" if plan.standard_error is None else six_digits(plan.standard_error)
    return (error, raw - half_width, raw + half_width)


def _histogram_fields(domain: Domain) -> list[dict[str, str]]:
    labels = [column.field() for column in label_columns(domain)]
    numbers = [{"name": name, "type": kind, "title": title} for name, (kind, title) in NUMBERS.items()]
    return labels + numbers
