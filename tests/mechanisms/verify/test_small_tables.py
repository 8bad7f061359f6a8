"""Tables without a row, running counts of one value, and large weights of few sums: as the portal writes them."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse

from dpportal.releases.products.shared.synthetic_files import write_rows
from mechanisms.verify import parquet, series, strategy


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_a_table_of_few_rows_or_none_is_its_columns_alone(tmp_path: Path, rows: int) -> None:
    frame = pd.DataFrame({"age": np.arange(rows), "is_new": pd.array([True] * rows, "boolean")})
    write_rows(iter([frame]), tmp_path / "a.csv", tmp_path / "a.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    bundle = SimpleNamespace(release={"versions": {"pyarrow": pa.__version__}})

    def fault(written: bytes) -> str:
        return parquet._fault_of_frame(pq.ParquetFile(io.BytesIO(written)), written, bundle)

    assert fault(content) == ""
    if not rows:
        assert fault(content[:4] + b"more" + content[4:]) == "there are bytes beside its columns"


def test_a_running_count_by_a_column_of_one_value_has_that() -> None:
    table = pd.DataFrame({"value": ["0", "0"]})
    told = series._values(table, 1, {"values": ["0"]})
    assert told["value"].tolist() == ["0", "0"]
    of_all = pd.DataFrame({"value": ["", ""]})
    assert series._values(of_all, 1, {"values": [0]})["value"].tolist() == ["", ""]
    with pytest.raises(ValueError, match="must be those"):
        series._values(table, 1, {"values": ["1"]})


def test_weights_are_added_up_whose_sums_of_squares_fit_64_bits() -> None:
    fitting = scipy.sparse.csc_array(np.diag(np.full(200, 10**8)))
    assert strategy._is_summable(fitting)
    squares = [int(each) for each in (fitting**2).sum(axis=0)]
    assert squares == [10**16] * 200
    assert not strategy._is_summable(scipy.sparse.csc_array(np.full((200, 2), 10**8 * 4)))
