"""The method chosen privately: charged as declared, replayed from its measurement, and choosing what the table says."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.advice import table
from mechanisms.advice.table import Trials
from mechanisms.domain import Domain, Integer
from mechanisms.histogram import private_selection, unevenness
from mechanisms.histogram.private_selection import ChosenHistogram, Seen
from mechanisms.noise import DiscreteGaussian, DiscreteLaplace, Noise
from mechanisms.protocol import Measurement, Plan, PlanError
from mechanisms.sensitivity import histogram_sensitivity

CHOSEN = ChosenHistogram()
UNITS = [PrivacyUnit(), PrivacyUnit(Neighbours.REPLACE_ONE), PrivacyUnit(max_rows=3)]


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", upper=w - 1) for i, w in enumerate(widths)))


def loss(amount: str, definition: Definition = Definition.PURE, unit: PrivacyUnit = PrivacyUnit()) -> Loss:  # noqa: B008
    return Loss(definition, Fraction(amount), unit)


def noise(seed: int = 7) -> Noise:
    return Noise(np.random.default_rng(seed).bytes)


@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("share", [1, 3, 50])
def test_statistics_and_release_spend_exactly_the_loss(
    definition: Definition, unit: PrivacyUnit, share: int
) -> None:
    plan = CHOSEN.plan(box(40, 30), {"statistic_share": share}, loss("0.3", definition, unit))
    stages = plan.details["stages"]
    assert sum(Fraction(s["share"]) * s["times"] for s in stages) == 1
    assert Fraction(stages[-1]["share"]) == 1 - Fraction(share, 100)
    for candidate in plan.details["candidates"]:
        inner = Plan.from_json({**candidate, "domain": plan.domain.to_json()})
        assert inner.loss.amount == (1 - Fraction(share, 100)) * plan.loss.amount
        assert inner.loss.unit == plan.loss.unit


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_the_noise_of_a_statistic_is_for_all_rows_of_a_person(unit: PrivacyUnit) -> None:
    rows = histogram_sensitivity(unit).l1
    for definition, law in ((Definition.PURE, DiscreteLaplace), (Definition.ZCDP, DiscreteGaussian)):
        plan = CHOSEN.plan(box(256), {}, loss("0.5", definition, unit))
        wanted = unevenness.statistics((256,))
        part = Fraction(3, 100) * Fraction(1, 2) / len(wanted)
        for statistic, found in zip(wanted, list(plan.stage_laws.values())[:-1], strict=True):
            assert isinstance(found, law)
            moved = rows * statistic.step
            if isinstance(found, DiscreteLaplace):
                assert found.scale == moved / part
            elif isinstance(found, DiscreteGaussian):
                assert found.variance_parameter == moved**2 / (2 * part)


@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("shape", [(1,), (7,), (300,), (20, 30), (4, 5, 6)], ids=str)
@pytest.mark.parametrize("purpose", ["cells", "ranges", "totals"])
def test_a_measurement_is_replayed_from_the_stored_plan(
    definition: Definition, shape: tuple[int, ...], purpose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = CHOSEN.plan(box(*shape), {"purpose": purpose}, loss("1", definition))
    counts = np.random.default_rng(2).integers(0, 200, math.prod(shape))
    measurement = CHOSEN.measure(plan, counts, noise())
    first = CHOSEN.reconstruct(plan, measurement)

    def gone(*_: object) -> None:
        raise AssertionError("a replay must not look at the table of drawn tables, which may be made anew")

    monkeypatch.setattr(table, "trials", gone)
    stored = Plan.from_json(json.loads(json.dumps(plan.to_json())))
    again = CHOSEN.reconstruct(stored, Measurement(measurement.values.copy()))
    assert np.array_equal(first.raw, again.raw)
    assert np.array_equal(first.counts, again.counts)
    named = plan.details["candidates"][int(measurement.values[0])]["mechanism"]
    assert again.method == first.method == registry.mechanism(named).title


def test_the_chosen_method_measures_with_its_own_plan() -> None:
    """Without noise to speak of the estimates are the counts, whichever method was chosen."""
    plan = CHOSEN.plan(box(64), {"purpose": "cells"}, loss("1000"))
    counts = np.random.default_rng(4).integers(0, 1000, 64)
    result = CHOSEN.reconstruct(plan, CHOSEN.measure(plan, counts, noise()))
    assert result.raw == pytest.approx(counts, abs=2)


@pytest.mark.slow
def test_the_chosen_methods_interval_holds_whatever_the_statistics_were() -> None:
    """Of rough and of flat tables, so that different methods are taken; at most 4.5 standard errors below 95 %."""
    random, plan = np.random.default_rng(8), CHOSEN.plan(box(64), {"purpose": "cells"}, loss("0.4"))
    inside, taken = [], set()
    for run in range(400):
        counts = random.poisson(200, 64) if run % 2 else random.permutation(2000 // np.arange(1, 65))
        result = CHOSEN.reconstruct(plan, CHOSEN.measure(plan, counts.astype(np.int64), noise(run)))
        taken.add(result.method)
        if result.half_width is not None:
            inside.append(abs(result.raw[run % 64] - counts[run % 64]) <= result.half_width[run % 64])
    assert len(taken) > 1 and len(inside) > 100
    assert np.mean(inside) >= 0.95 - 4.5 * math.sqrt(0.05 * 0.95 / len(inside))


def test_the_likeliest_drawn_tables_decide() -> None:
    """Two kinds of drawn tables: on filled ones "a" is best, on empty ones "b". What is seen is like one of them."""
    known = Trials(
        cells=np.full(4, 100.0),
        strength=np.full(4, 1000.0),
        statistics=np.array([[1000.0, 90.0], [1000.0, 80.0], [1000.0, 3.0], [1000.0, 2.0]]),
        ratios={"cells": {"a": np.array([0.0, 0, 1, 1]), "b": np.array([0.5, 0.5, 0, 0])}},
    )
    for filled, best in ((85.0, 0), (2.0, 1)):
        seen = Seen(100, np.array([1000.0, filled]), np.array([5.0, 5.0]))
        assert np.argmin(seen.expected(known, "cells", ["a", "b"])) == best
    # Where noise hides the statistic, all tables count alike: (1 + 1 + e + e)/4 against (√e + √e + 1 + 1)/4.
    blurred = Seen(100, np.array([1000.0, 50.0]), np.array([5.0, 1e9]))
    expected = [(1 + math.e) / 2, (1 + math.sqrt(math.e)) / 2, math.inf]
    assert blurred.expected(known, "cells", ["a", "b", "c"]) == pytest.approx(expected)


def test_a_method_that_is_far_off_on_some_likely_table_is_not_taken() -> None:
    """On nine tables "a" is half as wrong as "b", and 400 times as wrong on the tenth: b's mean ratio is 2, a's 41."""
    known = Trials(
        cells=np.full(10, 100.0),
        strength=np.full(10, 1000.0),
        statistics=np.tile([1000.0, 90.0], (10, 1)),
        ratios={"cells": {"a": np.log([1.0] * 9 + [400]), "b": np.log([2.0] * 9 + [1])}},
    )
    seen = Seen(100, np.array([1000.0, 90.0]), np.array([5.0, 5.0]))
    assert seen.expected(known, "cells", ["a", "b"]) == pytest.approx([40.9, 1.9])


def test_what_is_like_no_drawn_table_is_judged_by_all_that_are_a_little_alike() -> None:
    """Seen: 1,000 filled cells. Ten tables have 200, where "a" is best, and one has 300, where "b" is."""
    known = Trials(
        cells=np.full(11, 2000.0),
        strength=np.full(11, 1000.0),
        statistics=np.array([[1000.0, 200.0]] * 10 + [[1000.0, 300.0]]),
        ratios={"cells": {"a": np.log([1.0] * 10 + [3]), "b": np.log([3.0] * 10 + [1])}},
    )
    seen = Seen(2000, np.array([1000.0, 1000.0]), np.array([5.0, 5.0]))
    weights = seen.likeness(known)
    assert weights[-1] < weights[:10].sum()


def test_tables_alike_in_size_are_told_apart_by_their_statistics() -> None:
    """People spread evenly over 4,096 cells and people in 8 of them do not get the same method at ε·n = 10,000."""
    plan = CHOSEN.plan(box(4096), {"purpose": "cells", "statistic_share": 10}, loss("1"))
    even, spikes = np.full(4096, 2), np.zeros(4096, dtype=np.int64)
    spikes[::512] = 1024
    places = [int(CHOSEN.measure(plan, counts, noise()).values[0]) for counts in (even, spikes)]
    assert places[0] != places[1]


def test_too_many_cells_when_filled_up_are_refused() -> None:
    with pytest.raises(PlanError, match="power of two"):
        CHOSEN.plan(box(1025, 1025), {}, loss("1"))


@pytest.mark.parametrize("share", [0, 51, 2.5, "3"])
def test_a_share_out_of_bounds_is_refused(share: object) -> None:
    with pytest.raises(PlanError, match="give a whole number from 1 to 50"):
        CHOSEN.plan(box(8), {"statistic_share": share}, loss("1"))


def test_every_candidate_is_a_method_of_the_registry() -> None:
    names = {m.name for m in registry.HISTOGRAMS}
    assert {m.name for m in private_selection.CANDIDATES} <= names - {CHOSEN.name}
