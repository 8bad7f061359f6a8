"""Rows of many columns take few bytes, and hold every cell."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from mechanisms.domain import Domain, Integer
from mechanisms.microdata.cell_rows import empty_rows, from_columns, reorder
from mechanisms.microdata.clusters import Clusters
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.independent_columns import IndependentColumns
from mechanisms.microdata.principal_components import PrincipalComponents
from mechanisms.microdata.private_partition import PrivatePartition
from mechanisms.microdata.tree_of_pairs import TreeOfPairs
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement
from tests.mechanisms.microdata.building import counted, loss, of_methods

WIDE = Domain(tuple(Integer(f"c{j}", lower=0, upper=9) for j in range(60)))
PEOPLE = 20_000


@pytest.mark.parametrize(("largest", "width"), [(2, 1), (256, 1), (257, 2), (65_536, 2), (65_537, 4)])
def test_a_cell_takes_the_fewest_bytes_that_hold_the_largest(largest, width):
    rows = empty_rows(3, [2, largest])
    rows[:, 1] = largest - 1
    assert rows.itemsize == width
    assert rows[0, 1] == largest - 1


def test_columns_become_rows_and_rows_another_order():
    rows = from_columns([np.array([0, 1, 2]), np.array([5, 4, 3])], 3, (3, 6))
    reorder(rows, np.array([2, 0, 1]))
    assert rows.tolist() == [[2, 3], [0, 5], [1, 4]]


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    of_methods([Clusters(), IndependentColumns(), PrincipalComponents(), PrivatePartition(), TreeOfPairs()]),
)
def test_a_value_of_a_synthetic_row_takes_few_bytes_while_it_is_made(method):
    """A million rows of 250 columns have to fit in a worker: in 64 bits they took 10 GB."""
    plan = method.plan(WIDE, Wishes(), loss("1/2"))
    people = np.random.default_rng(3).integers(0, 10, (PEOPLE, len(WIDE.shape)))
    measured = method.measure(plan, counted(plan, people), Noise())
    tracemalloc.start()
    made = method.reconstruct(plan, Measurement(measured.values))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * made.rows.size
