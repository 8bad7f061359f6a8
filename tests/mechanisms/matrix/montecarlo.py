"""Whether the expected total error of a plan is what many runs show."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan
from mechanisms.noise import Noise, repeatable
from mechanisms.protocol import Measurement
from tests.mechanisms.audit import Lanes

RUNS = 2000


def noise(name: str) -> Noise:
    """Noise that is the same every time, for tests alone."""
    return Noise(repeatable(hashlib.sha256(name.encode()).digest()).bytes)


def deviation(
    mechanism: QueryMechanism, plan: QueryPlan, counts: np.ndarray, truth: np.ndarray, runs: int = RUNS
) -> float:
    """By how many of its standard errors the mean total squared error over the runs differs from the plan's.

    counts: what `measure` takes. truth: (q,) true answers. Terms of the workload must have weight 1. The runs are
    lanes of one call of measure; noise is the same every time, so that a right mechanism does not fail at times.
    """
    source = Lanes(noise(f"{mechanism.name} {plan.workload.text} {plan.loss}"), runs)
    answers = reconstructed(mechanism, plan, mechanism.measure(plan, counts, source).values)
    errors = ((answers - truth) ** 2).sum(axis=1)
    return (float(np.mean(errors)) - plan.total_error) / (float(np.std(errors)) / math.sqrt(runs))


def reconstructed(mechanism: QueryMechanism, plan: QueryPlan, values: np.ndarray) -> np.ndarray:
    """The answers, (runs, q), to measured values, (runs, p).

    Least squares is linear, so that what is made of each unit vector tells what is made of all runs. Every hundredth
    run is reconstructed by itself, and must have the same answers but for rounding.
    """

    def answers(measured: np.ndarray) -> np.ndarray:
        return mechanism.reconstruct(plan, Measurement(measured)).answers

    together = values @ np.stack([answers(unit) for unit in np.eye(values.shape[1], dtype=np.int64)])
    rounding = 1e-4 * math.sqrt(plan.total_error)
    for run in range(0, len(values), 100):
        np.testing.assert_allclose(together[run], answers(values[run]), rtol=0, atol=rounding)
    return together
