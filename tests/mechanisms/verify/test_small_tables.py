"""Tables without a row, running counts of one value, and large weights of few sums: as the portal writes them."""

from __future__ import annotations

import io
from itertools import combinations
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


def test_norms_of_weights_are_exact_though_their_squares_do_not_fit_64_bits() -> None:
    largest = 2**34 - 1
    matrix = np.array([[largest, -largest, 5], [largest, 2**33 + 1, 0], [0, largest, 3]])
    assert strategy._is_measurable(scipy.sparse.csc_array(matrix))
    columns = [[int(number) for number in column] for column in matrix.T]
    apart = [[a - b for a, b in zip(*pair, strict=True)] for pair in combinations(columns, 2)]
    for own, true in ((strategy._columns, columns), (strategy._distances, apart)):
        found = own(scipy.sparse.csc_array(matrix))
        assert found.l1 == max(sum(map(abs, numbers)) for numbers in true)
        assert found.l2_squared == max(sum(number**2 for number in numbers) for numbers in true)


@pytest.mark.parametrize("weight", [2**34, -(2**34), -(2**63)])
def test_no_portal_measures_with_a_weight_that_would_wrap_around(weight: int) -> None:
    matrix = np.array([[1, weight], [0, 1]], dtype=np.int64)
    assert not strategy._is_measurable(scipy.sparse.csc_array(matrix))
