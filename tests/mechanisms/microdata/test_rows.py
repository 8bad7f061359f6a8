"""Rows: near their tables, the same again, independent where the model says so, without what cannot occur."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mechanisms.accounting import Definition, Neighbours, PrivacyUnit
from mechanisms.domain import Categorical, Domain
from mechanisms.microdata import whole_rows
from mechanisms.microdata.apportioning import dealt, recounted, systematic
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.features import ColumnChoice
from mechanisms.microdata.latent_classes import rows_of
from mechanisms.microdata.limits import RowCount
from mechanisms.microdata.mixture import Mixture
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.swap_refinement import settle
from mechanisms.microdata.tables import Grouping, PairTables
from mechanisms.microdata.whole_rows import WholeRows
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, PlanError
from mechanisms.registry import MICRODATA, microdata
from tests.mechanisms.microdata.building import (
    DOMAIN,
    FITTED,
    NUMBERS,
    counted,
    distance,
    loss,
    of_methods,
    people,
    skip_unless_offered,
)

every_method = pytest.mark.parametrize("method", of_methods())
with_fits_at_leisure = pytest.mark.parametrize("method", of_methods(slow=FITTED))
# Those that measure tables of pairs, categories included.
PAIRWISE = [m for m in MICRODATA if m.pairwise and not m.whole_rows]


def measured(
    method, wishes: Wishes | None = None, amount: str = "5", **choices
) -> tuple[MicrodataPlan, Measurement]:
    plan = method.plan(DOMAIN, wishes or Wishes(), loss(amount), **choices)
    return plan, method.measure(plan, counted(plan, people()), Noise())


@with_fits_at_leisure
def test_a_measurement_gives_the_same_rows_again(method):
    plan, measurement = measured(method)
    again = MicrodataPlan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    one, other = (method.reconstruct(p, Measurement(measurement.values.copy())).rows for p in (plan, again))
    assert one.tobytes() == other.tobytes()


@pytest.mark.slow
@every_method
def test_rows_lie_within_the_domain_and_are_as_many_as_asked(method):
    plan, measurement = measured(method, rows=RowCount(777))
    rows = method.reconstruct(plan, measurement).rows
    assert rows.shape == (777, 4)
    assert (rows >= 0).all() and (rows < np.array(DOMAIN.shape)).all()


def test_the_noisy_total_is_the_number_of_rows():
    plan, measurement = measured(microdata("tree-of-pairs"))
    assert len(microdata("tree-of-pairs").reconstruct(plan, measurement).rows) == pytest.approx(4000, abs=60)


@pytest.mark.slow
@pytest.mark.parametrize("method", PAIRWISE, ids=lambda m: m.name)
@pytest.mark.parametrize("definition", Definition)
def test_dependence_is_kept_where_there_is_some(method, definition):
    """Independent columns are wrong by .3 and .2 about these pairs; little noise leaves little of that."""
    plan = method.plan(DOMAIN, Wishes(), loss("20", definition))
    rows = method.reconstruct(plan, method.measure(plan, counted(plan, people()), Noise())).rows
    for pair in ((0, 1), (1, 2), (0, 2)):
        assert distance(rows, people(), pair) < 0.06
    random = np.random.default_rng(1)
    shuffled = np.column_stack([random.permutation(c) for c in people().T])
    assert distance(shuffled, people(), (0, 1)) > 0.2


@pytest.mark.slow
def test_a_public_total_is_kept_exactly():
    method = microdata("latent-classes")
    domain = Domain(tuple(Categorical(n, values=("0", "1"), closed=True, misfits_to=0) for n in "abc"))
    unit = PrivacyUnit(Neighbours.REPLACE_ONE)
    plan = method.plan(domain, Wishes(), loss("1", unit=unit), rows=RowCount(public=90))
    rows = np.random.default_rng(0).integers(0, 2, (90, 3))
    assert len(method.reconstruct(plan, method.measure(plan, plan.tables.of_rows(rows), Noise())).rows) == 90


def test_siblings_that_share_a_parent_are_independent_given_it():
    """Dealt in one order they would move together; here their joint table is the product, up to chance."""
    random = np.random.default_rng(3)
    parent = random.integers(0, 3, 60_000)
    shares = np.array([[0.5, 0.5], [0.1, 0.9], [0.7, 0.3]])
    one, other = dealt(parent, shares, random), dealt(parent, shares, random)
    for value in range(3):
        here = parent == value
        both = float((one[here] & other[here]).mean())
        assert both == pytest.approx(shares[value, 1] ** 2, abs=6 * 0.5 / np.sqrt(here.sum()))


def test_each_count_is_within_one_of_its_share():
    random = np.random.default_rng(4)
    shares, sizes = random.random((50, 7)), random.integers(0, 1000, 50)
    counts = systematic(shares, sizes, random)
    wanted = shares / shares.sum(axis=1, keepdims=True) * sizes[:, None]
    assert (counts.sum(axis=1) == sizes).all()
    assert np.abs(counts - wanted).max() < 1


def test_rows_of_classes_have_the_counts_of_their_columns():
    """Whole numbers in 400 classes leave a value off by some 6 rows of 20,000, exchanges keep that."""
    random = np.random.default_rng(7)
    grouping = Grouping((np.arange(3), np.arange(8)))
    shares = np.concatenate([random.dirichlet(np.ones(size), 400) for size in grouping.sizes], axis=1)
    model = Mixture(grouping, random.dirichlet(np.ones(400)), shares)
    rows = rows_of(model, 20_000, random)
    for column, size in enumerate(grouping.sizes):
        own = 20_000 * (model.weights @ shares[:, grouping.place(column)])
        assert np.abs(np.bincount(rows[:, column], minlength=size) - own).max() < 1


def test_values_are_recounted_by_as_few_changes_as_possible():
    random = np.random.default_rng(8)
    values, wanted = np.repeat([0, 1, 3], [5, 3, 2]), np.array([2, 4, 2, 2])
    changed = recounted(values, wanted, random)
    assert np.bincount(changed).tolist() == wanted.tolist() and (changed != values).sum() == 3
    assert np.array_equal(recounted(values, np.bincount(values), random), values)


def test_settling_comes_near_to_a_table_and_keeps_the_columns():
    random = np.random.default_rng(6)
    wanted_rows, start = (
        people(2000)[:, :3],
        np.column_stack([random.permutation(c) for c in people(2000)[:, :3].T]),
    )
    sizes = DOMAIN.shape[:3]
    offsets = np.cumsum([0, *sizes])
    wanted = np.zeros((offsets[-1], offsets[-1]))
    tables = PairTables(sizes)
    counts = tables.of_rows(wanted_rows)
    for a, b in tables.pairs:
        table = tables.table(counts, (a, b)) / 2000
        wanted[offsets[a] : offsets[a + 1], offsets[b] : offsets[b + 1]] = table
        wanted[offsets[b] : offsets[b + 1], offsets[a] : offsets[a + 1]] = table.T
    rows = settle(start, sizes, wanted, 300, random)
    assert all((np.sort(rows[:, j]) == np.sort(start[:, j])).all() for j in range(3))
    before, after = (np.abs(tables.of_rows(r) - counts).sum() for r in (start, rows))
    assert after < before / 10


@pytest.mark.slow
@every_method
def test_what_cannot_occur_does_not(method):
    zeros = (("ill", "true", "town", "x"), ("age", "3", "job", "b"), ("job", "b", "ill", "true"))
    plan, measurement = measured(method, Wishes(zeros=zeros))
    rows = method.reconstruct(plan, measurement).rows
    assert not plan.wishes.impossible(DOMAIN).broken(rows).any()
    assert not ((rows[:, 2] == 1) & (rows[:, 3] == 0)).any()


@pytest.mark.parametrize(
    ("wishes", "word"),
    [
        (Wishes(target="income"), "not among the chosen columns"),
        (Wishes(weights={"age": 11}), "whole numbers from 1 to 10"),
        (Wishes(pairs=(("age", "job", 0),)), "whole numbers from 1 to 10"),
        (Wishes(pairs=(("age", "age", 2),)), "two different columns"),
        (Wishes(required=(("age", "age"),)), "two different columns"),
        (Wishes(zeros=(("ill", "perhaps", "town", "x"),)), "no declared value"),
        (
            Wishes(zeros=tuple(("ill", i, "town", t) for i in ("true", "false") for t in "xy")),
            "no row possible",
        ),
    ],
)
def test_wishes_that_cannot_be_granted_are_refused(wishes, word):
    with pytest.raises(PlanError, match=word):
        microdata("latent-classes").plan(DOMAIN, wishes, loss())


def test_a_pair_counts_by_its_own_weight_or_the_heavier_of_its_columns():
    wishes = Wishes(weights={"age": 3, "job": 2}, pairs=(("ill", "age", 7), ("job", "age", 1)), target="ill")
    assert wishes == Wishes.from_json(json.loads(json.dumps(wishes.to_json())))
    found = [wishes.pair_weight(DOMAIN, pair) for pair in PairTables(DOMAIN.shape).pairs]
    assert found == [1, 4 * 7, 3, 4 * 2, 2, 4]
    assert wishes.among(["age", "ill"]).pairs == (("ill", "age", 7),)


def test_shapes_that_cannot_be_served_are_refused():
    method = microdata("tree-of-pairs")
    one_value = Domain((*DOMAIN.attributes, Categorical("c", values=("v",), closed=True, misfits_to=0)))
    large = Domain(tuple(Categorical(f"c{i}", values=tuple(map(str, range(5000)))) for i in range(3)))
    many = Domain(tuple(Categorical(f"c{i}", values=("a", "b")) for i in range(500)))
    cases = [(DOMAIN.project(["age"]), "not 1"), (one_value, "one value only"), (large, "fit in memory")]
    for domain, word in [*cases, (many, "not 500")]:
        with pytest.raises(PlanError, match=word):
            method.plan(domain, Wishes(), loss())
    with pytest.raises(PlanError, match="too small"):
        method.plan(DOMAIN, Wishes(), loss("1/1000000000000000000000000"))


@pytest.mark.slow
def test_required_pairs_are_measured_and_a_tree_takes_no_circle():
    circle = Wishes(required=(("age", "town"), ("town", "ill"), ("ill", "age")))
    with pytest.raises(PlanError, match="circle"):
        microdata("tree-of-pairs").plan(DOMAIN, circle, loss())
    plan, measurement = measured(microdata("latent-classes"), circle)
    pairs = {table.pair for table in microdata("latent-classes").reconstruct(plan, measurement).tables}
    assert {(0, 3), (2, 3), (0, 2)} <= pairs
    plan, measurement = measured(microdata("tree-of-pairs"), Wishes(required=(("age", "town"),)))
    assert (0, 3) in {t.pair for t in microdata("tree-of-pairs").reconstruct(plan, measurement).tables}


@every_method
def test_counts_that_do_not_fit_are_refused(method):
    plan = method.plan(DOMAIN, Wishes(), loss())
    with pytest.raises(ValueError, match="shape"):
        method.measure(plan, np.zeros(3, np.int64), Noise())
    with pytest.raises(ValueError, match="int64"):
        method.measure(plan, np.zeros(plan.cells), Noise())


@pytest.mark.slow
@pytest.mark.parametrize("method", PAIRWISE, ids=lambda m: m.name)
@pytest.mark.parametrize("definition", Definition)
def test_the_columns_that_tell_most_about_the_target_are_kept(method, definition):
    """Illness follows the job, and the job the age; the town follows nothing."""
    plan = method.plan(DOMAIN, Wishes(target="ill"), loss("20", definition), choice=ColumnChoice(3))
    result = method.reconstruct(plan, method.measure(plan, counted(plan, people()), Noise()))
    assert result.columns == (0, 1, 2)
    assert distance(np.column_stack([result.rows, result.rows[:, 0] * 0]), people(), (1, 2)) < 0.06
    assert len(result.margins) == 4


@with_fits_at_leisure
@pytest.mark.parametrize("definition", Definition)
def test_columns_are_chosen_before_any_method(method, definition):
    skip_unless_offered(method, definition)
    wishes = Wishes(target="job", zeros=(("job", "a", "ill", "true"),))
    plan = method.plan(NUMBERS, wishes, loss("50", definition), choice=ColumnChoice(3))
    result = method.reconstruct(plan, method.measure(plan, counted(plan, people()), Noise()))
    assert result.columns == (0, 1, 2)
    assert not ((result.rows[:, 1] == 0) & (result.rows[:, 2] == 1)).any()


def test_whole_rows_of_some_columns_keep_their_cells(monkeypatch):
    monkeypatch.setattr(whole_rows, "BLOCK", 7)
    rows = np.random.default_rng(1).integers(0, 2**40, (30, 4))
    whole, fewer = WholeRows((2**40,) * 4), WholeRows((2**40,) * 2)
    found = list(fewer.blocks(whole.among(whole.pack(rows), [1, 3])))
    assert np.array_equal(np.vstack(found), rows[:, [1, 3]])
    assert fewer.number(whole.among(whole.pack(rows[:0]), [1, 3])) == 0


def test_components_need_two_ordered_columns_whichever_are_kept():
    wishes, method = Wishes(target="job"), microdata("principal-components")
    with pytest.raises(PlanError, match="among those that tell most there may be fewer"):
        method.plan(DOMAIN, wishes, loss(), choice=ColumnChoice(2))
    assert method.plan(DOMAIN, Wishes(target="ill"), loss(), choice=ColumnChoice(4))
    with pytest.raises(PlanError, match="there may be fewer"):
        method.plan(DOMAIN, Wishes(target="ill"), loss(), choice=ColumnChoice(3))


def test_required_columns_are_kept_whatever_they_tell():
    wishes = Wishes(target="ill", required=(("ill", "town"),))
    plan, measurement = measured(microdata("tree-of-pairs"), wishes, choice=ColumnChoice(2))
    assert microdata("tree-of-pairs").reconstruct(plan, measurement).columns == (2, 3)


def test_methods_that_measure_no_pair_say_so_where_one_is_required():
    wishes, without = Wishes(required=(("age", "town"),)), [m for m in MICRODATA if not m.measures_pairs]
    assert {m.name for m in without} >= {"independent-columns", "principal-components", "private-partition"}
    for method in (m for m in without if not m.missing):
        with pytest.raises(PlanError, match=f"{method.title}: no table of a pair is measured"):
            method.plan(DOMAIN, wishes, loss())


def test_a_choice_of_columns_needs_a_target_and_a_fitting_number():
    for method, target, keep, word in (
        ("latent-classes", "", 2, "Choose the target"),
        ("latent-classes", "ill", 5, "between 2 and 4"),
        ("independent-columns", "", 2, "Choose the target"),
    ):
        with pytest.raises(PlanError, match=word):
            microdata(method).plan(DOMAIN, Wishes(target=target), loss(), choice=ColumnChoice(keep))
