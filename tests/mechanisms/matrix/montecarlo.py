"""Whether the expected total error of a plan is what many runs show."""

from __future__ import annotations

import hashlib
import math

import numpy as np

from mechanisms.matrix.mechanism import QueryMechanism, QueryPlan
from mechanisms.noise import Noise, repeatable

RUNS = 2000


def noise(name: str) -> Noise:
    """Noise that is the same every time, for tests alone."""
    return Noise(repeatable(hashlib.sha256(name.encode()).digest()).bytes)


def deviation(
    mechanism: QueryMechanism, plan: QueryPlan, counts: np.ndarray, truth: np.ndarray, runs: int = RUNS
) -> float:
    """By how many of its standard errors the mean total squared error over the runs differs from the plan's.

    counts: what `measure` takes. truth: (q,) true answers. Terms of the workload must have weight 1. Each run is a
    call of measure and of reconstruct; noise is the same every time, so that a right mechanism does not fail at times.
    """
    source = noise(f"{mechanism.name} {plan.workload.text} {plan.loss}")
    errors = [
        float(
            (
                (mechanism.reconstruct(plan, mechanism.measure(plan, counts, source)).answers - truth) ** 2
            ).sum()
        )
        for _ in range(runs)
    ]
    return (float(np.mean(errors)) - plan.total_error) / (float(np.std(errors)) / math.sqrt(runs))
