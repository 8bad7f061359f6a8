"""With the true cells, the demonstration's declaration keeps what people compute first of a numeric column."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.benchmarks.values_in_cells import DIGESTS, kept, numeric_columns


@pytest.mark.slow
def test_mean_deviation_and_median_of_every_numeric_column_are_kept():
    for attribute, true in numeric_columns():
        for digest in DIGESTS[:2]:
            found = kept(attribute, true, digest)
            assert abs(found.mean) < 0.01 and abs(found.deviation) < 0.02, found
            assert found.median == found.true_median, found


def test_with_zero_inside_a_bin_the_mean_is_two_and_a_half_times_too_large():
    [(gain, true)] = [each for each in numeric_columns() if each[0].name == "capital-gain"]
    found = kept(replace(gain, single_values=()), true, DIGESTS[0])
    assert 1.4 < found.mean < 1.6 and found.median > 1000
