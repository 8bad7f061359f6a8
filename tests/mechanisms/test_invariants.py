"""What every mechanism of the registry keeps: who may see data, who may draw, and what a message may say."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from inspect import signature
from typing import Any

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Loss, Neighbours, PrivacyUnit
from mechanisms.domain import Domain, Integer
from mechanisms.noise import Noise
from mechanisms.protocol import Mechanism, Plan, PlanError

FAMILIES = (registry.HISTOGRAMS, registry.SELECTIONS, registry.RESPONSES, registry.QUERIES, registry.STREAMS)
EVERY = [mechanism for family in FAMILIES for mechanism in family]
# The verbs that spend the loss: of a table, of many runs in an audit, and of a stream.
PRIVATE = {"measure", "sample", "choose", "open", "advance"}
DOMAIN = Domain((Integer("x", lower=0, upper=15), Integer("y", lower=0, upper=3)))
SECRET = 987_654_321

every = pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: m.name)
every_histogram = pytest.mark.parametrize("mechanism", registry.HISTOGRAMS, ids=lambda m: m.name)


def annotations(mechanism: Any, verb: str) -> list[str]:
    return [str(p.annotation) for p in signature(getattr(mechanism, verb)).parameters.values()]


def plans(mechanism: Mechanism) -> Iterator[Plan]:
    """One for each kind of loss and relation that the mechanism serves."""
    for definition in sorted(mechanism.definitions):
        for neighbours in Neighbours:
            try:
                loss = Loss(definition, Fraction(1), PrivacyUnit(neighbours))
                yield mechanism.plan(DOMAIN, {}, loss)
            except PlanError:
                continue


@every
def test_no_plan_is_given_an_array_nor_noise(mechanism: Any) -> None:
    given = annotations(mechanism, "plan")
    assert given and not [a for a in given if "ndarray" in a or "Integers" in a or "Noise" in a]


@every
def test_only_the_private_verbs_are_given_noise(mechanism: Any) -> None:
    verbs = {
        name for name in dir(mechanism) if not name.startswith("_") and callable(getattr(mechanism, name))
    }
    given_noise = {verb for verb in verbs if "Noise" in annotations(mechanism, verb)}
    assert given_noise and given_noise <= PRIVATE


@every_histogram
def test_a_plan_is_the_same_every_time_and_from_its_json(mechanism: Mechanism) -> None:
    first, again = list(plans(mechanism)), list(plans(mechanism))
    assert first
    assert [plan.to_json() for plan in first] == [plan.to_json() for plan in again]
    assert [Plan.from_json(plan.to_json()).to_json() for plan in first] == [plan.to_json() for plan in first]


@every_histogram
def test_a_reconstruction_is_the_same_every_time(mechanism: Mechanism) -> None:
    counts = np.arange(DOMAIN.size, dtype=np.int64)
    for plan in plans(mechanism):
        measured = mechanism.measure(plan, counts, Noise())
        first, again = (mechanism.reconstruct(plan, measured) for _ in range(2))
        np.testing.assert_array_equal(first.raw, again.raw)
        np.testing.assert_array_equal(first.counts, again.counts)


@every_histogram
@pytest.mark.parametrize(
    "counts",
    [
        np.full(DOMAIN.size, float(SECRET)),
        np.full(DOMAIN.size, -SECRET),
        np.full(DOMAIN.size + 1, SECRET),
    ],
    ids=["floats", "negative", "another shape"],
)
def test_counts_that_are_not_a_table_are_refused_and_not_named(
    mechanism: Mechanism, counts: np.ndarray
) -> None:
    plan = next(plans(mechanism))
    with pytest.raises(ValueError, match="counts must") as refusal:
        mechanism.measure(plan, counts, Noise())
    assert "987" not in str(refusal.value)
