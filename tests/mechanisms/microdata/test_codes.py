"""Columns of many codes: planes and carriers, what is declared of them, and what asking about them costs."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mechanisms.accounting import Definition, Neighbours
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.microdata import mixture
from mechanisms.microdata.coarsening import group
from mechanisms.microdata.codes import CODES, PARTNERS, likeliest
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.features import ColumnChoice
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.registry import MICRODATA, microdata
from tests.mechanisms.microdata.building import counted, loss
from tests.mechanisms.microdata.releases import steps
from tests.mechanisms.microdata.test_whole_releases import leaked
from tests.mechanisms.neighbours import UNITS, name

PLANES, CARRIERS, FLIGHTS = 600, 12, 50_000
DECLARED = Wishes(follows=(("plane", "carrier"),))


def codes(column: str, size: int) -> Categorical:
    return Categorical(column, values=tuple(map(str, range(size))), closed=True, misfits_to=0)


DOMAIN = Domain((Integer("hour", lower=0, upper=23), codes("plane", PLANES), codes("carrier", CARRIERS)))
# Smaller than any release, but with a column of codes.
SMALL = Domain((codes("plane", 102), codes("carrier", 2), codes("late", 2)))
PARTLY = replace(DECLARED, known=(("plane", "7", "carrier", "1"), ("plane", "101", "carrier", "0")))


def flights() -> np.ndarray:
    """Every plane has one carrier; a plane in the middle of all has some forty flights."""
    random = np.random.default_rng(4)
    shares = 1 / np.arange(30, 30 + PLANES)
    plane = random.choice(PLANES, FLIGHTS, p=random.permutation(shares / shares.sum()))
    return np.column_stack([random.integers(0, 24, FLIGHTS), plane, carriers()[plane]])


def carriers() -> np.ndarray:
    return np.random.default_rng(5).integers(0, CARRIERS, PLANES)


def released(wishes: Wishes, noise: Noise | None = None) -> MicrodataResult:
    method = microdata("latent-classes")
    plan = method.plan(DOMAIN, wishes, loss("0.1"))
    again = MicrodataPlan.from_json(json.loads(json.dumps(plan.to_json())))
    assert again == plan
    return method.reconstruct(again, method.measure(plan, counted(plan, flights()), noise or Noise()))


def wrong(rows: np.ndarray) -> float:
    return float((carriers()[rows[:, 1]] != rows[:, 2]).mean())


@pytest.mark.slow
def test_hardly_a_plane_flies_for_another_carrier_though_nothing_is_declared():
    """With all codes in one group, 11 of 12 rows would be wrong."""
    assert wrong(released(Wishes()).rows) < 0.1


@pytest.mark.slow
def test_what_is_declared_to_follow_does_so_in_every_row():
    rows = released(DECLARED).rows
    pairs, planes = np.unique(rows[:, 1:], axis=0), np.unique(rows[:, 1])
    assert len(pairs) == len(planes) > PLANES / 2
    assert wrong(rows) < 0.03


@pytest.mark.slow
def test_what_is_no_declared_value_follows_nothing():
    """`Other` stands for many planes, and a missing one for any."""
    domain = Domain((Categorical("plane", True, ("x", "y")), codes("carrier", 2), codes("late", 2)))
    method, random = microdata("latent-classes"), np.random.default_rng(1)
    plan = method.plan(domain, DECLARED, loss("20"))
    plane = random.integers(0, 4, 4000)
    carrier = np.where(plane < 2, plane, random.integers(0, 2, 4000))
    rows = np.column_stack([plane, carrier, random.integers(0, 2, 4000)])
    made = method.reconstruct(plan, method.measure(plan, counted(plan, rows), Noise())).rows
    assert (made[made[:, 0] < 2, 0] == made[made[:, 0] < 2, 1]).all()
    for several in (2, 3):
        assert 0.4 < made[made[:, 0] == several, 1].mean() < 0.6


def register(planes: range = range(PLANES)) -> Wishes:
    """Which carrier these planes have is public."""
    known = tuple(("plane", str(plane), "carrier", str(carriers()[plane])) for plane in planes)
    return replace(DECLARED, known=known)


@pytest.mark.slow
def test_a_public_register_leaves_no_row_wrong_and_nothing_to_measure():
    """At a tenth of the loss of the other tests, and no part of it is for codes."""
    method = microdata("latent-classes")
    plan = method.plan(DOMAIN, register(), loss("0.01"))
    assert CODES not in plan.shares and PARTNERS not in plan.shares and sum(plan.shares.values()) == 1
    rows = method.reconstruct(plan, method.measure(plan, counted(plan, flights()), Noise())).rows
    assert wrong(rows) == 0 and len(np.unique(rows[:, 1])) > PLANES / 2


@pytest.mark.slow
def test_of_a_register_with_gaps_the_rest_is_measured():
    """Noise may well leave none of the rest wrong."""
    half = register(range(0, PLANES, 2))
    assert CODES in microdata("latent-classes").plan(DOMAIN, half, loss("0.1")).shares
    rows = released(half).rows
    known = rows[:, 1] % 2 == 0
    assert wrong(rows[known]) == 0 and wrong(rows[~known]) < 0.06
    assert len(np.unique(rows[:, 1:], axis=0)) == len(np.unique(rows[:, 1]))


@pytest.mark.slow
def test_what_follows_does_so_where_impossible_values_were_taken_out_too():
    """Taking them out gives rows other planes."""
    early = tuple(("plane", str(p), "hour", str(h)) for p in range(PLANES // 2) for h in range(12))
    rows = released(replace(DECLARED, zeros=early)).rows
    assert not ((rows[:, 1] < PLANES // 2) & (rows[:, 0] < 12)).any()
    assert len(np.unique(rows[:, 1:], axis=0)) == len(np.unique(rows[:, 1]))


def test_the_likeliest_companion_is_that_of_normal_noise():
    """Three codes, σ = 2: of 6 rows with counts 5 and 1; of 1 row with 1 and 2; of 30 rows against all that is known.

    The odds of the first cell are s·exp(n·y/σ²) of a share s, n rows and a count y, but for what both have.
    """
    table, rows, shares = np.array([[5, 1], [1, 2], [-3, 25]]), np.array([6.0, 1, 30]), np.array([0.9, 0.1])
    odds = [
        shares * np.exp(-((y - n * np.eye(2)) ** 2).sum(axis=1) / (2 * 4.0))
        for y, n in zip(table, rows, strict=True)
    ]
    assert likeliest(table, rows, shares, 4.0).tolist() == np.argmax(odds, axis=1).tolist() == [0, 0, 1]


def test_heavy_codes_stand_alone_and_rare_ones_with_their_kind():
    counts = np.array([400.0, 2, 3, 1, 500, 4])
    margins = Margins(910.0, (counts, np.array([455.0, 455])), (1.0, 1.0), ())
    attributes = (codes("a", 6), codes("b", 2))
    kinds = {0: np.array([0, 1, 0, 1, 1, 0])}
    of_cells = group(attributes, margins, 50.0, 0.15, kinds).groups[0]
    assert len(set(of_cells.tolist())) == 4
    assert of_cells[1] == of_cells[3] and of_cells[2] == of_cells[5]
    alone = group(attributes, margins, 50.0, 0.15).groups[0]
    assert len(set(alone[[1, 2, 3, 5]].tolist())) == 1


@pytest.mark.parametrize("definition", Definition)
@pytest.mark.parametrize("unit", UNITS, ids=name)
@pytest.mark.parametrize("wishes", [Wishes(), DECLARED, PARTLY], ids=["chosen", "declared", "partly known"])
def test_neighbours_are_asked_the_same_and_all_answers_cost_the_loss(definition, unit, wishes, monkeypatch):
    """A loner's plane, carrier and delay; along the same answers groups, pairs and laws are the same (`steps`)."""
    monkeypatch.setattr(mixture, "MOST_STEPS", 2)
    monkeypatch.setattr(mixture, "CLASSES", 3)
    method = microdata("latent-classes")
    plan = method.plan(SMALL, wishes, loss("1", definition, unit))
    assert (PARTNERS in plan.shares) == (not wishes.follows) and CODES in plan.shares
    assert sum(plan.shares.values()) == 1
    everybody = np.column_stack([np.arange(102) % 100, np.arange(102) % 2, np.arange(102) % 2])
    alone, another = np.array([[101, 1, 0]]), np.array([[0, 0, 1]])
    rows = unit.max_rows
    without = [everybody] if unit.neighbours is Neighbours.ADD_REMOVE else [everybody, *[another] * rows]
    one, other = (counted(plan, np.vstack(r)) for r in ([everybody, *[alone] * rows], without))
    found = steps(method, plan, one, other)
    assert 0 < leaked(found, definition) <= float(plan.loss.amount) * (1 + 1e-9)


def test_a_step_is_paid_for_only_where_there_are_codes():
    method = microdata("latent-classes")
    small = Domain((codes("plane", 100), codes("carrier", 2)))
    assert CODES not in method.plan(small, Wishes(), loss("1")).shares
    assert method.plan(small, DECLARED, loss("1")).step(CODES).amount == Fraction(2, 5)


@pytest.mark.parametrize(
    ("wishes", "refusal"),
    [
        (Wishes(follows=(("hour", "carrier"),)), "no declared categories"),
        (Wishes(follows=(("plane", "carrier"), ("carrier", "plane"))), "more than one column, or in turn"),
        (Wishes(follows=(("plane", "plane"),)), "two different columns"),
        (Wishes(follows=(("plane", "pilot"),)), "not among the chosen columns"),
        (replace(DECLARED, zeros=(("hour", "3", "carrier", "1"),)), "cannot occur with others"),
        (Wishes(known=(("plane", "1", "carrier", "1"),)), "not among the columns that follow from plane"),
        (replace(DECLARED, known=(("plane", "1", "pilot", "1"),)), "not among the chosen columns"),
        (replace(DECLARED, known=(("plane", "x", "carrier", "1"),)), "no declared value of that name: x"),
        (replace(DECLARED, known=tuple(("plane", "1", "carrier", c) for c in "12")), "two values of carrier"),
    ],
)
def test_what_cannot_be_kept_is_refused(wishes, refusal):
    with pytest.raises(PlanError, match=refusal):
        wishes.check(DOMAIN)


def test_nothing_is_known_of_values_that_stand_for_several():
    domain = Domain((Categorical("plane", True, ("x", "y")), codes("carrier", 2)))
    for label in domain.attributes[0].labels()[2:]:
        with pytest.raises(PlanError, match="stands for several values"):
            replace(DECLARED, known=(("plane", label, "carrier", "1"),)).check(domain)


@pytest.mark.parametrize("method", [m for m in MICRODATA if not m.keeps_dependencies and not m.missing])
def test_other_methods_say_that_they_do_not_keep_it(method):
    with pytest.raises(PlanError, match="Choose latent classes"):
        method.plan(SMALL, DECLARED, loss("1"))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["late", "hour"])
def test_whichever_columns_are_kept_a_declared_dependency_is(target):
    """Else the column of codes would ask for a part of the loss that no plan has, and fail by what was chosen."""
    columns = (codes("plane", 150), codes("carrier", 4), codes("late", 3), codes("hour", 3), codes("day", 2))
    domain, method = Domain(columns), microdata("latent-classes")
    plan = method.plan(
        domain, Wishes(target=target, follows=DECLARED.follows), loss("0.1"), choice=ColumnChoice(4)
    )
    random = np.random.default_rng(2)
    rows = np.column_stack([random.integers(0, column.size, 900) for column in columns])
    for _ in range(6):
        measurement = method.measure(plan, counted(plan, rows), Noise())
        kept = [columns[place].name for place in method.reconstruct(plan, measurement).columns]
        assert len(kept) == 4 and {"plane", "carrier", target} <= {*kept}
