"""Exact sums of columns by groups, their noise, and what is estimated from both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpportal.datasets import records
from dpportal.releases.models import Release
from dpportal.releases.products.shared.runner import Runner
from dpportal.releases.products.shared.values import Counted
from mechanisms import registry
from mechanisms.moments.estimates import (
    ColumnEstimates,
    Interval,
    Sums,
    added_up,
    by_groups,
    compared_means,
)
from mechanisms.moments.mechanism import exact_sums
from mechanisms.moments.plan import MomentsPlan
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement


@dataclass(frozen=True)
class GroupMeans:
    """What is estimated of each measured column: by groups, and of all groups together where there are several.

    compared: means of groups whose intervals hold together, for what is said of all of them at once.
    """

    groups: Sequence[ColumnEstimates]
    together: Sequence[ColumnEstimates]
    compared: Sequence[Interval]

    @classmethod
    def of(cls, plan: MomentsPlan, sums: np.ndarray) -> GroupMeans:
        """sums: (columns, groups, plan.sums), measured."""
        return cls(by_groups(plan, sums), added_up(plan, sums), compared_means(plan, sums))


class MeansRunner(Runner[MomentsPlan, GroupMeans]):
    """From rows to exact sums, and from measured ones to means."""

    def count(self, release: Release, plan: MomentsPlan, key: bytes) -> Counted:
        readings = [c.column.reading for c in plan.columns]
        powers = records.power_sums(release.dataset, release.declaration, plan.groups, readings, key)
        return Counted.same(exact_sums(plan, powers))

    def rows_counted(self, plan: MomentsPlan, compared: np.ndarray) -> int:
        """By the first column: those with a value and those without."""
        own = Sums.of(plan, plan.columns[0])
        return round(float(compared[0].astype(np.float64).sum(axis=0) @ own.people))

    def measure(self, plan: MomentsPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.moments(plan.mechanism).measure(plan, counts, noise)

    def reconstruct(
        self, plan: MomentsPlan, measurement: Measurement, stored: np.ndarray | None = None
    ) -> GroupMeans:
        return GroupMeans.of(plan, measurement.values)
