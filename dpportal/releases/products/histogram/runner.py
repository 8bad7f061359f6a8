"""Counts of cells, with the noise that the plan states."""

from __future__ import annotations

import numpy as np

from dpportal.datasets import records
from dpportal.releases.models import Release
from dpportal.releases.products.shared.runner import Runner
from dpportal.releases.products.shared.values import Counted
from mechanisms import registry
from mechanisms.arrays import summed
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement, Plan, Result


class HistogramRunner(Runner[Plan, Result]):
    """Counts every combination of the columns' cells."""

    def count(self, release: Release, plan: Plan, key: bytes) -> Counted:
        return Counted.same(records.count(release.dataset, release.declaration, plan.domain, key))

    def rows_counted(self, plan: Plan, compared: np.ndarray) -> int:
        return summed(compared)

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.mechanism(plan.mechanism).measure(plan, counts, noise)

    def reconstruct(self, plan: Plan, measurement: Measurement, stored: np.ndarray | None = None) -> Result:
        return registry.mechanism(plan.mechanism).reconstruct(plan, measurement)
