"""The tables of a bundle: synthetic rows and the histogram, written piece by piece."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.releases import results
from dpportal.releases.models import Release
from dpportal.spreadsheet import inert_frame
from mechanisms.domain import Domain
from mechanisms.mechanism import Plan, Result
from mechanisms.synthesis.table import rows

CELLS_AT_ONCE = 100_000
NUMBERS = ("noisy_count", "count", "standard_error", "interval_lower", "interval_upper")


def write_synthetic(release: Release, result: Result, csv: Path, parquet: Path) -> None:
    """Write the synthetic table in both formats."""
    plan = release.plan
    frames = rows(
        plan.domain, result.counts, results.repeatable_digest(release), str(plan.parameters["within_bins"])
    )
    writer = None
    with csv.open("w", encoding="utf-8", newline="") as file:
        for frame in frames:
            frame = with_days(frame)
            inert_frame(frame).to_csv(file, index=False, header=writer is None, lineterminator="\n")
            table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
            writer = writer or pq.ParquetWriter(parquet, table.schema, compression="zstd")
            writer.write_table(table)
    if writer is not None:
        writer.close()


def with_days(frame: pd.DataFrame) -> pd.DataFrame:
    """Dates as days, without a time of day."""
    dates = frame.select_dtypes(include=["datetime"]).columns
    return frame.assign(**{name: frame[name].astype(pd.ArrowDtype(pa.date32())) for name in dates})


def histogram_columns(domain: Domain) -> list[str]:
    """The label columns of histogram.csv, renamed where they would clash with the numbers beside them."""
    return [f"{name} (column)" if name in NUMBERS else name for name in domain.names]


def write_histogram(plan: Plan, result: Result, path: Path) -> None:
    """Write a line for every cell: its labels, noisy count, post-processed count, standard error, interval."""
    labels = [np.array(a.labels(), dtype=object) for a in plan.domain.attributes]
    names = histogram_columns(plan.domain)
    with path.open("w", encoding="utf-8", newline="") as file:
        for start in range(0, plan.domain.size, CELLS_AT_ONCE):
            cells = np.arange(start, min(start + CELLS_AT_ONCE, plan.domain.size))
            places = np.unravel_index(cells, plan.domain.shape)
            frame = pd.DataFrame({n: names_[p] for n, names_, p in zip(names, labels, places, strict=True)})
            raw = result.raw[cells]
            numbers = (raw, result.counts[cells], *_error_columns(plan, result, cells))
            frame = inert_frame(frame).assign(**dict(zip(NUMBERS, numbers, strict=True)))
            frame.to_csv(file, index=False, header=start == 0, float_format="%.6g", lineterminator="\n")


def _error_columns(plan: Plan, result: Result, cells: np.ndarray) -> tuple[Any, Any, Any]:
    """Standard error and interval of some cells; empty where the method's error depends on the data."""
    half_width = plan.half_width if result.half_width is None else result.half_width[cells]
    if half_width is None:
        return (None, None, None)
    raw = result.raw[cells]
    return (plan.standard_error, raw - half_width, raw + half_width)
