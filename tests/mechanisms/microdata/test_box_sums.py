"""Sums over a synthetic table's columns: measured where a noisy table holds the box, else modelled and said so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from mechanisms.microdata.box_sums import cell_sum
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.features import ColumnChoice
from mechanisms.microdata.independent_columns import IndependentColumns
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.tree_of_pairs import TreeOfPairs
from mechanisms.noise import Noise
from mechanisms.noise.sum_quantiles import PlainSum
from tests.mechanisms.microdata.building import DOMAIN, counted, loss, people

ALL = [np.arange(c) for c in DOMAIN.shape]


def boxed(**picked: list[int]) -> list[np.ndarray]:
    return [np.array(picked.get(name, ALL[j])) for j, name in enumerate(DOMAIN.names)]


@pytest.fixture(scope="module")
def tree():
    """A tree whose first edge is age × job, its measurement and its result."""
    plan = TreeOfPairs().plan(DOMAIN, Wishes(required=(("age", "job"),)), loss("1"))
    measurement = TreeOfPairs().measure(plan, counted(plan, people()), Noise())
    return plan, measurement.values, TreeOfPairs().reconstruct(plan, measurement)


def asked(tree, picks, **changes):
    plan, values, made = tree
    return cell_sum(TreeOfPairs(), plan, values, changes.get("rows", made.rows.T), picks)


def test_a_box_of_one_column_is_the_sum_of_its_noisy_counts(tree):
    plan, _values, made = tree
    found = asked(tree, boxed(age=[2, 3, 4]))
    assert (found.estimate, found.cells) == (made.margins[0][2:5].sum(), 3)
    assert PlainSum(margin_laws(plan)[0], 3).half_width() == found.half_width


def test_whole_groups_of_a_measured_pair_are_summed_in_its_noisy_table(tree):
    _plan, _values, made = tree
    table = next(t for t in made.tables if t.pair == (0, 1))
    ages, jobs = (np.flatnonzero(made.grouping.groups[j] == 0).tolist() for j in (0, 1))
    found = asked(tree, boxed(age=ages, job=jobs))
    assert (found.estimate, found.cells, found.half_width) == (table.values[0, 0], 1, table.half_width)


def test_a_pair_that_was_not_measured_is_counted_in_the_rows_and_has_no_interval(tree):
    _plan, _values, made = tree
    pair = next(p for p in ((0, 2), (0, 3), (1, 2), (1, 3), (2, 3)) if p not in [t.pair for t in made.tables])
    names = [DOMAIN.names[j] for j in pair]
    found = asked(tree, boxed(**{name: [0] for name in names}))
    share = np.all(made.rows[:, list(pair)] == 0, axis=1).mean()
    assert found.half_width is None
    assert found.estimate == pytest.approx(share * made.total)


def test_three_columns_together_are_only_modelled(tree):
    assert asked(tree, boxed(age=[1], job=[0], ill=[1])).half_width is None


def test_without_rows_nothing_modelled_is_told(tree):
    assert asked(tree, boxed(age=[1], job=[0], ill=[1]), rows=None) is None


def test_everyone_is_the_column_that_tells_most(tree):
    plan, _values, made = tree
    found = asked(tree, boxed())
    sums = [float(margin.sum()) for margin in made.margins]
    assert found.estimate in sums
    laws = zip(margin_laws(plan), DOMAIN.shape, strict=True)
    assert found.half_width == min(PlainSum(law, c).half_width() for law, c in laws)


def test_a_column_that_was_not_kept_is_told_alone_but_not_with_others():
    wishes = Wishes(target="job")
    plan = TreeOfPairs().plan(DOMAIN, wishes, loss("1"), choice=ColumnChoice(2))
    measurement = TreeOfPairs().measure(plan, counted(plan, people()), Noise())
    made = TreeOfPairs().reconstruct(plan, measurement)
    lost = next(j for j in range(4) if j not in made.columns)
    rows, name = made.rows.T, DOMAIN.names[lost]
    alone = cell_sum(TreeOfPairs(), plan, measurement.values, rows, boxed(**{name: [0]}))
    assert alone.estimate == made.margins[lost][0]
    assert cell_sum(TreeOfPairs(), plan, measurement.values, rows, boxed(**{name: [0], "job": [0]})) is None


@pytest.mark.slow
def test_intervals_of_columns_hold_the_truth_in_95_of_100():
    method, table, picks = IndependentColumns(), people(), boxed(age=[0, 5, 6])
    plan = method.plan(DOMAIN, Wishes(), loss(str(Fraction(1, 50))))
    counts, true = counted(plan, table), np.isin(table[:, 0], [0, 5, 6]).sum()
    found = (
        cell_sum(method, plan, method.measure(plan, counts, Noise()).values, None, picks) for _ in range(600)
    )
    assert np.mean([abs(f.estimate - true) <= f.half_width for f in found]) >= 0.95 - 0.027
