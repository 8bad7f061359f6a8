"""Synthetic rows in two formats, written piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpportal.platform.json_types import Json
from dpportal.publications.table import Table
from mechanisms.domain import Attribute, Boolean, Date, Domain, Integer, Real
from mechanisms.synthesis.table import SMOOTH, rows
from mechanisms.tabular.csv_frames import with_truths, write_frame
from mechanisms.tabular.headers import Headers
from mechanisms.tabular.label_columns import holds_integers, titled, with_codes


def write_synthetic(
    domain: Domain, counts: np.ndarray, seed: bytes, folder: Path, within_bins: str = SMOOTH
) -> list[Table]:
    """The synthetic table in two formats; counts: (domain.size,) integers >= 0."""
    return write_frames(domain, rows(domain, counts, seed, within_bins), Headers.of(domain), folder)


def write_frames(
    domain: Domain, frames: Iterator[pd.DataFrame], headers: Headers, folder: Path
) -> list[Table]:
    """Synthetic rows of a domain, or of a part of one that has these headers, in two formats."""
    csv, parquet = folder / "synthetic.csv", folder / "synthetic.parquet"
    blank = all(a.missing_cell for a in domain.attributes)
    write_rows(with_codes(frames, domain, headers), csv, parquet)
    return [
        Table(csv, "Synthetic table, for any program", fields_of(domain, headers), may_be_blank=blank),
        Table(parquet, "Synthetic table with exact column types"),
    ]


def fields_of(domain: Domain, headers: Headers) -> list[Json]:
    """The columns of synthetic rows as Frictionless fields."""
    return [field for attribute in domain.attributes for field in _fields(attribute, headers)]


def write_rows(frames: Iterator[pd.DataFrame], csv: Path, parquet: Path) -> None:
    """Frames of rows, one after the other, in two files."""
    writer = None
    with csv.open("w", encoding="utf-8", newline="") as file:
        for frame in map(_with_days, frames):
            write_frame(with_truths(frame), file, header=writer is None)
            table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
            writer = writer or pq.ParquetWriter(parquet, table.schema, compression="zstd")
            writer.write_table(table)
    if writer is not None:
        writer.close()


def _with_days(frame: pd.DataFrame) -> pd.DataFrame:
    """Dates as days, without a time of day."""
    dates = frame.select_dtypes(include=["datetime"]).columns
    return frame.assign(**{name: frame[name].astype(pd.ArrowDtype(pa.date32())) for name in dates})


def _fields(attribute: Attribute, headers: Headers) -> Iterator[Json]:
    """A synthetic column as a Frictionless field, and that of its labels where it has codes."""
    names = [headers.columns[attribute.name], headers.labels.get(attribute.name, "")]
    kinds = [_type(attribute), {"type": "string"}]
    for name, kind in zip(filter(None, names), kinds, strict=False):
        yield {"name": name, **kind, **titled(name, attribute.title or attribute.name)}


def _type(attribute: Attribute) -> Json:
    if isinstance(attribute, Integer):
        return {"type": "integer"}
    if isinstance(attribute, Real):
        return {"type": "number"}
    if isinstance(attribute, Date):
        return {"type": "date"}
    if isinstance(attribute, Boolean) and not (attribute.values or attribute.words):
        return {"type": "boolean", "trueValues": ["true"], "falseValues": ["false"]}
    return {"type": "integer" if holds_integers(attribute) else "string"}
