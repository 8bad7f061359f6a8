"""Integers meet noise, and floats never do: whatever is measured, by whichever mechanism of the registry."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.continual.mechanism import StreamMechanism, StreamRequest
from mechanisms.domain import Boolean, Domain, Integer
from mechanisms.matrix.mechanism import Optimised, QueryMechanism
from mechanisms.matrix.workload.text import read_workload
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.mechanism import Microdata
from mechanisms.moments.mechanism import BernsteinSums
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, Mechanism
from mechanisms.response import Response
from mechanisms.selection.choosing import Selection
from mechanisms.selection.score import MostCommonValue
from mechanisms.summary.mechanism import ColumnTables
from tests.mechanisms.microdata import building
from tests.mechanisms.moments.measuring import column
from tests.mechanisms.test_sensitivity import box

Measure = Callable[[np.ndarray], np.ndarray]
X = Integer("x", lower=0, upper=15)
LINE = Domain((X,))
NOBODY = Domain(())
# Tables, and a question that needs far fewer sums than cells.
WORKLOADS = ((box(3, 4), "marginals(<=2)"), (box(8), "total"))


def loss_of(mechanism: Any, unit: PrivacyUnit | None = None) -> Loss:
    return Loss(min(mechanism.definitions), Fraction(1), unit or PrivacyUnit())


def histogram(mechanism: Mechanism) -> tuple[Measure, np.ndarray]:
    plan = mechanism.plan(LINE, {}, loss_of(mechanism))
    return lambda counts: mechanism.measure(plan, counts, Noise()).values, np.arange(16)


def choice(mechanism: Selection) -> tuple[Measure, np.ndarray]:
    plan = mechanism.plan(MostCommonValue(("a", "b", "c")), loss_of(mechanism))
    return lambda scores: mechanism.measure(plan, scores, Noise()).values, np.array([0, -1, -2])


def reports(mechanism: Response) -> tuple[Measure, np.ndarray]:
    plan = mechanism.plan(LINE, loss_of(mechanism, PrivacyUnit(Neighbours.REPLACE_ONE)))
    return lambda codes: mechanism.measure(plan, codes, Noise()).values, np.arange(16)


def sums(mechanism: BernsteinSums) -> tuple[Measure, np.ndarray]:
    plan = mechanism.plan(NOBODY, [column(0, 9)], 2, loss_of(mechanism), 1000)
    exact = np.ones((1, 1, plan.sums), dtype=np.int64)
    return lambda given: mechanism.measure(plan, given, Noise()).values, exact


def tables(mechanism: ColumnTables) -> tuple[Measure, np.ndarray]:
    plan = mechanism.plan(NOBODY, [X, Boolean("y")], (), loss_of(mechanism), 1000)
    return lambda values: mechanism.measure(plan, values, Noise()).values, np.ones(plan.size, dtype=np.int64)


def rows(mechanism: Microdata) -> tuple[Measure, np.ndarray]:
    plan = mechanism.plan(building.DOMAIN, Wishes(), loss_of(mechanism))
    counts = building.counted(plan, building.people(400))
    return lambda given: mechanism.measure(plan, given, Noise()).values, counts


def answers(mechanism: QueryMechanism) -> tuple[Measure, np.ndarray]:
    loss = loss_of(mechanism)
    read = ((domain, read_workload(text, domain)) for domain, text in WORKLOADS)
    domain, workload = next(r for r in read if not mechanism.refusal(*r, loss.definition))
    optimised = None
    if mechanism.name == "uploaded-strategy":
        optimised = Optimised({"strategy": np.eye(domain.size)})
    elif mechanism.optimises:
        optimised = mechanism.optimise(domain, workload, loss.definition, lambda _done, _all: None)
    plan = mechanism.plan(domain, workload, loss, optimised)
    sizes = dict(zip(domain.names, domain.shape, strict=True))
    cells = sum(math.prod(sizes[name] for name in names) for names in plan.counted)
    return lambda counts: mechanism.measure(plan, counts, Noise()).values, np.ones(cells, dtype=np.int64)


def period(mechanism: StreamMechanism) -> tuple[Measure, np.ndarray]:
    plan = mechanism.plan(StreamRequest(12, 2), loss_of(mechanism))

    def measure(increments: np.ndarray) -> np.ndarray:
        noise = Noise()
        return mechanism.advance(plan, mechanism.open(plan, noise), increments, noise)[0]

    return measure, np.array([3, 4])


FAMILIES: dict[Callable[[Any], tuple[Measure, np.ndarray]], tuple[Any, ...]] = {
    histogram: registry.HISTOGRAMS,
    choice: registry.SELECTIONS,
    reports: registry.RESPONSES,
    sums: registry.MOMENTS,
    tables: registry.SUMMARIES,
    rows: registry.MICRODATA,
    answers: registry.QUERIES,
    period: registry.STREAMS,
}


@pytest.mark.parametrize(
    "family, mechanism",
    [
        pytest.param(
            family, m, id=m.name, marks=pytest.mark.skipif(bool(getattr(m, "missing", "")), reason="-")
        )
        for family, mechanisms in FAMILIES.items()
        for m in mechanisms
    ],
)
def test_integers_are_measured_and_floats_are_refused(family: Any, mechanism: Any) -> None:
    measure, exact = family(mechanism)
    assert np.issubdtype(measure(exact).dtype, np.integer)
    with pytest.raises(ValueError, match=r"int64|integers"):
        measure(exact.astype(np.float64))


def test_every_family_of_the_registry_is_gone_through() -> None:
    families = {name for name, value in vars(registry).items() if name.isupper() and isinstance(value, tuple)}
    assert {id(family) for family in FAMILIES.values()} == {id(getattr(registry, name)) for name in families}


@pytest.mark.parametrize(
    "values", [np.array([1.5]), np.array([1.0]), np.array([True]), np.array([], dtype=object)]
)
def test_a_measurement_has_integers_alone(values: np.ndarray) -> None:
    with pytest.raises(TypeError, match=f"a measurement must have integers, got {values.dtype}"):
        Measurement(values)


@pytest.mark.parametrize("amount", [0.3, 1, Decimal("0.3"), np.float64(0.3)])
def test_a_loss_is_a_fraction(amount: Any) -> None:
    """Of 0.3, noise would have the scale of a number near it; and a third of 1 would be one."""
    with pytest.raises(TypeError, match="a privacy loss must be a Fraction, got "):
        Loss(Definition.PURE, amount)
    with pytest.raises(TypeError, match="a privacy loss must be a Fraction, got "):
        Loss(Definition.PURE, Fraction(1), delta=amount)
