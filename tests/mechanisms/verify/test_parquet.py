"""A Parquet file has its rows and nothing else, whichever reader shows it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.releases.products.shared.synthetic_files import write_rows
from mechanisms.verify import parquet
from mechanisms.verify.finding import State

ROWS = {"colour": ["red", "blue"] * 50, "age": list(range(100)), "on": pd.to_datetime(["2020-02-29"] * 100)}
KINDS = {"colour": "string", "age": "integer", "on": "date"}


class _Bundle:
    """With these two files, written by this pyarrow."""

    def __init__(self, folder: Path, content: bytes, program: str = pa.__version__) -> None:
        self.release = {"versions": {"pyarrow": program}}
        self._contents = {"a.csv": (folder / "a.csv").read_bytes(), "a.parquet": content}
        self.entries = dict.fromkeys(self._contents, zipfile.ZipInfo())

    def content(self, name: str) -> bytes:
        return self._contents[name]

    def opened(self, name: str) -> io.BytesIO:
        return io.BytesIO(self._contents[name])


@pytest.fixture
def written(tmp_path: Path) -> bytes:
    """In two pieces."""
    frame = pd.DataFrame(ROWS)
    write_rows(iter([frame[:60], frame[60:]]), tmp_path / "a.csv", tmp_path / "a.parquet")
    return (tmp_path / "a.parquet").read_bytes()


def test_a_file_as_portals_write_it_holds(tmp_path, written):
    assert parquet.check(_Bundle(tmp_path, written), "a.parquet", KINDS).state is State.HOLDS


def test_that_of_another_version_of_pyarrow_holds_as_well(tmp_path, written):
    other = written.replace(f"version {pa.__version__}".encode(), b"version " + b"9" * len(pa.__version__))
    bundle = _Bundle(tmp_path, other, "9" * len(pa.__version__))
    assert parquet.check(bundle, "a.parquet", KINDS).state is State.HOLDS


def _forged(written: bytes, **how: object) -> bytes:
    table = pq.read_table(io.BytesIO(written))
    dictionary = pa.array(["red", "blue", "in truth 7834"])
    colours = pa.DictionaryArray.from_arrays(pa.array([0, 1] * 50, pa.int32()), dictionary)
    table = table.set_column(0, "colour", colours)
    held = io.BytesIO()
    pq.write_table(table, held, compression="none", store_schema=False, **how)
    return held.getvalue()


def test_a_value_of_a_dictionary_that_no_row_has_is_named(tmp_path, written):
    forged = _forged(written)
    assert b"in truth 7834" in forged
    found = parquet.check(_Bundle(tmp_path, forged), "a.parquet", KINDS)
    assert found.state is State.NOT_CHECKED and "more in it than its rows" in found.details


def test_what_is_packed_otherwise_is_named(tmp_path, written):
    held = io.BytesIO()
    pq.write_table(pq.read_table(io.BytesIO(written)), held, compression="zstd", write_statistics=False)
    found = parquet.check(_Bundle(tmp_path, held.getvalue()), "a.parquet", KINDS)
    assert found.state is State.NOT_CHECKED
