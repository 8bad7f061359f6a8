"""The tables for standard errors in one file, a column says which: for everyone who computes with the rows."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pandas as pd

from dpportal.publications.table import Table
from dpportal.releases.products.shared.synthetic_files import fields_of, write_rows
from mechanisms.domain import Domain
from mechanisms.microdata.plan import MicrodataResult
from mechanisms.synthesis.table import rows_of_cells
from mechanisms.tabular.headers import Headers
from mechanisms.tabular.label_columns import with_codes

NUMBER = "replicate"
FIELD = {
    "name": NUMBER,
    "type": "integer",
    "title": "0: fitted to what was measured; others: fitted to it made anew",
}


def write(
    domain: Domain, result: MicrodataResult, seed: bytes, headers: Headers, folder: Path
) -> list[Table]:
    """All of them in two formats; nothing where there are none."""
    if not result.replicates:
        return []
    csv, parquet = folder / "replicates.csv", folder / "replicates.parquet"
    write_rows(_frames(domain, result, seed, headers), csv, parquet)
    return [
        Table(csv, "Tables for standard errors, for any program", [FIELD, *fields_of(domain, headers)]),
        Table(parquet, "Tables for standard errors with exact column types"),
    ]


def _frames(domain: Domain, result: MicrodataResult, seed: bytes, headers: Headers) -> Iterator[pd.DataFrame]:
    for number, cells in enumerate(result.replicates):
        own = sha256(seed + number.to_bytes(4, "big")).digest()
        for frame in with_codes(rows_of_cells(domain, cells, own), domain, headers):
            frame.insert(0, NUMBER, number)
            yield frame
