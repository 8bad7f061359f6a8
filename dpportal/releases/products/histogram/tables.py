"""The data files of a histogram's bundle: synthetic rows and the histogram, written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.publishing import codebook
from dpportal.publishing.headers import Headers
from dpportal.publishing.labelled import is_whole, label_columns, titled, with_codes
from dpportal.publishing.lines import LINES, Lines, fields, six_digits
from dpportal.publishing.spreadsheet import inert, inert_frame
from dpportal.publishing.table import Table
from mechanisms.arrays import let_go
from mechanisms.domain import Attribute, Boolean, Date, Domain, Integer, Real
from mechanisms.protocol import Plan, Result
from mechanisms.synthesis.table import rows

CELLS = "histogram.csv"
NUMBERS = {
    "noisy_count": ("number", "Estimate of the count with noise; may be negative"),
    "count": ("integer", "Count made into that of a possible table, never negative"),
    "standard_error": (
        "number",
        "Standard error of the noisy count, in rows; empty if it depends on the data",
    ),
    "interval_lower": ("number", "Lower end of the 95 % interval of the true count"),
    "interval_upper": ("number", "Upper end of the 95 % interval of the true count"),
}


def write(plan: Plan, result: Result, seed: bytes, folder: Path) -> list[Table]:
    """The synthetic table in two formats, and the histogram."""
    histogram = folder / CELLS
    _write_histogram(plan, result, histogram)
    stated = plan.half_width is not None or result.half_width is not None
    about = "Noisy and post-processed counts of every cell" + (
        ", with standard errors and 95 % intervals" if stated else ""
    )
    within_bins = str(plan.parameters.get("within_bins", "uniform"))
    return [
        *write_synthetic(plan.domain, result.counts, seed, folder, within_bins),
        Table(histogram, about, _histogram_fields(plan.domain)),
        codebook.write(plan.domain, folder),
    ]


def write_synthetic(
    domain: Domain, counts: np.ndarray, seed: bytes, folder: Path, within_bins: str = "uniform"
) -> list[Table]:
    """The synthetic table in two formats; counts: (domain.size,) integers >= 0."""
    return write_frames(domain, rows(domain, counts, seed, within_bins), Headers.of(domain), folder)


def write_frames(
    domain: Domain, frames: Iterator[pd.DataFrame], headers: Headers, folder: Path
) -> list[Table]:
    """Synthetic rows of a domain, or of a part of one that has these headers, in two formats."""
    csv, parquet = folder / "synthetic.csv", folder / "synthetic.parquet"
    fields = [field for a in domain.attributes for field in _fields(a, headers)]
    blank = all(a.missing_cell for a in domain.attributes)
    _write_rows(with_codes(frames, domain, headers), csv, parquet)
    return [
        Table(csv, "Synthetic table, for any program", fields, may_be_blank=blank),
        Table(parquet, "Synthetic table with exact column types"),
    ]


def _write_rows(frames: Iterator[pd.DataFrame], csv: Path, parquet: Path) -> None:
    writer = None
    with csv.open("w", encoding="utf-8", newline="") as file:
        for frame in map(_with_days, frames):
            inert_frame(frame).to_csv(file, index=False, header=writer is None, lineterminator="\n")
            table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
            writer = writer or pq.ParquetWriter(parquet, table.schema, compression="zstd")
            writer.write_table(table)
    if writer is not None:
        writer.close()


def _with_days(frame: pd.DataFrame) -> pd.DataFrame:
    """Dates as days, without a time of day."""
    dates = frame.select_dtypes(include=["datetime"]).columns
    return frame.assign(**{name: frame[name].astype(pd.ArrowDtype(pa.date32())) for name in dates})


def _write_histogram(plan: Plan, result: Result, path: Path) -> None:
    """Write a line for every cell: its labels, noisy count, post-processed count, standard error, interval."""
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


def _fields(attribute: Attribute, headers: Headers) -> Iterator[dict[str, Any]]:
    """A synthetic column as a Frictionless field, and that of its labels where it has codes."""
    names = [headers.columns[attribute.name], headers.labels.get(attribute.name, "")]
    kinds = [_type(attribute), {"type": "string"}]
    for name, kind in zip(filter(None, names), kinds, strict=False):
        yield {"name": name, **kind, **titled(name, attribute.name)}


def _type(attribute: Attribute) -> dict[str, Any]:
    if isinstance(attribute, Integer):
        return {"type": "integer"}
    if isinstance(attribute, Real):
        return {"type": "number"}
    if isinstance(attribute, Date):
        return {"type": "date"}
    if isinstance(attribute, Boolean):
        return {"type": "boolean", "trueValues": ["True"], "falseValues": ["False"]}
    return {"type": "integer" if is_whole(attribute) else "string"}
