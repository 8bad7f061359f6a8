"""With the true cells, the demonstration's declaration keeps what people compute first of a numeric column."""

from __future__ import annotations

import pytest

from tests.benchmarks.values_in_cells import DIGESTS, kept, numeric_columns


@pytest.mark.slow
def test_mean_deviation_and_median_of_every_numeric_column_are_kept():
    for attribute, true in numeric_columns():
        for digest in DIGESTS[:2]:
            found = kept(attribute, true, digest)
            assert abs(found.mean) < 0.01 and abs(found.deviation) < 0.02, found
            assert found.median == found.true_median, found
