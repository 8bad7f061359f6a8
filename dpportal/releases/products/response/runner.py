"""Counts of one column, turned into rows in an order that says nothing, each of which reports."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpportal.datasets import records
from dpportal.releases.models import Release
from dpportal.releases.products.shared.runner import Runner
from dpportal.releases.products.shared.values import Counted
from mechanisms import registry
from mechanisms.noise import Noise
from mechanisms.postprocess import lattice_simplex
from mechanisms.protocol import Measurement
from mechanisms.response import Estimate, ResponsePlan, shuffled_codes


@dataclass(frozen=True)
class Answers:
    """The reports, what they estimate, and the estimates made into the counts of a possible table."""

    reports: np.ndarray
    estimate: Estimate
    counts: np.ndarray

    @property
    def half_width(self) -> int:
        """In whole rows, an interval that holds for every value."""
        return math.ceil(float(self.estimate.half_width.max()))


class ResponseRunner(Runner[ResponsePlan, Answers]):
    """From counts to reports, and what they estimate."""

    def count(self, release: Release, plan: ResponsePlan, key: bytes) -> Counted:
        return Counted.same(records.count(release.dataset, release.declaration, release.domain, key))

    def rows_counted(self, plan: ResponsePlan, compared: np.ndarray) -> int:
        return int(compared.sum())

    def measure(self, plan: ResponsePlan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.response(plan.mechanism).measure(plan, shuffled_codes(counts, noise), noise)

    def reconstruct(
        self, plan: ResponsePlan, measurement: Measurement, stored: np.ndarray | None = None
    ) -> Answers:
        estimate = registry.response(plan.mechanism).estimate(plan, measurement)
        counts = lattice_simplex(estimate.counts, len(measurement.values))
        return Answers(measurement.values, estimate, counts)
