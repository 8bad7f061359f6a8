"""Counts of the candidates, and a choice among them with noise."""

from __future__ import annotations

import numpy as np

from dpportal.datasets import records
from dpportal.releases.models import Release
from dpportal.releases.products.selection.form import ONE_COLUMN
from dpportal.releases.products.shared.runner import Runner
from dpportal.releases.products.shared.values import Counted
from mechanisms import registry
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement
from mechanisms.selection import SelectionPlan

TRUE_CELL = 1


class SelectionRunner(Runner[SelectionPlan, list[str]]):
    """From counts to the chosen candidates, best first."""

    def count(self, release: Release, plan: SelectionPlan, key: bytes) -> Counted:
        """Counts of the one column's cells, or of the yes cell of every option.

        One key for all options: the same rows of a person are kept in each count.
        """
        version, domain = release.declaration, release.domain
        if plan.score.kind in ONE_COLUMN:
            return Counted.same(records.count(release.dataset, version, domain, key))
        options = [(name,) for name in domain.names]
        counts = records.count_each(release.dataset, version, domain, options, key)
        return Counted.same(np.array([of_option[TRUE_CELL] for of_option in counts]))

    def measure(self, plan: SelectionPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.selection(plan.mechanism).measure(plan, plan.score.scores(counts), noise)

    def reconstruct(
        self, plan: SelectionPlan, measurement: Measurement, stored: np.ndarray | None = None
    ) -> list[str]:
        return [plan.candidates[index] for index in measurement.values]
