"""Exact counts and sums of every column by groups, their noise, and what is estimated from both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpportal.datasets import records
from dpportal.releases.models import Release
from dpportal.releases.products.shared.runner import Runner
from dpportal.releases.products.shared.values import Counted
from mechanisms import registry
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute, Domain
from mechanisms.moments.mechanism import POWERS
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement
from mechanisms.summary.counts import ColumnReading, column_counts, exact_values, readings, stepwise
from mechanisms.summary.estimates import estimates
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.told import Summary
from mechanisms.summary.truth import true_summary

# Columns that another engine adds up in one query: each takes several of its columns, of which there may be 1,600.
MOST_SUMMED = 100


class SummaryRunner(Runner[SummaryPlan, Summary]):
    """From rows to exact counts and sums, and from measured ones to a table."""

    def count(self, release: Release, plan: SummaryPlan, key: bytes) -> Counted:
        read = readings(plan)
        # Another engine would have to send every step.
        steps = {} if release.dataset.is_remote else stepwise(plan)
        tables = _tables(release, plan, [reading.counted(steps) for reading in read], key)
        powers = _powers(release, plan, [r for r in read if r.cells.name not in steps], key)
        counts = column_counts(read, steps, tables, powers)
        # Every row is in one cell of each column.
        return Counted.same(exact_values(plan, counts[0].cells.sum(axis=1), counts))

    def rows_counted(self, plan: SummaryPlan, compared: np.ndarray) -> int:
        return round(float(true_summary(plan, compared).number.estimate[-1]))

    def measure(self, plan: SummaryPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.summary(plan.mechanism).measure(plan, counts, noise)

    def reconstruct(
        self, plan: SummaryPlan, measurement: Measurement, stored: np.ndarray | None = None
    ) -> Summary:
        return estimates(plan, measurement.values)


def _tables(release: Release, plan: SummaryPlan, counted: Sequence[Attribute], key: bytes) -> list[Integers]:
    """(groups, cells) counts of each column, all of the same rows."""
    groups, columns = plan.groups, Domain(tuple(counted))
    domain = Domain((*groups.attributes, *columns.attributes))
    names = [[*groups.names, name] for name in columns.names]
    flat = records.count_tables(release.dataset, release.declaration, domain, names, key)
    sizes = [groups.size * size for size in columns.shape]
    parts = np.split(flat, np.cumsum(sizes)[:-1])
    return [part.reshape(groups.size, -1) for part in parts]


def _powers(release: Release, plan: SummaryPlan, read: Sequence[ColumnReading], key: bytes) -> np.ndarray:
    """(columns of numbers, groups, 6) power sums; each column is measured by itself, so several queries may count."""
    steps = [reading.steps for reading in read if reading.steps]
    most = MOST_SUMMED if release.dataset.is_remote else max(1, len(steps))
    parts = [
        records.power_sums(
            release.dataset, release.declaration, plan.groups, steps[first : first + most], key
        )
        for first in range(0, len(steps), most)
    ]
    return np.concatenate(parts) if parts else np.zeros((0, plan.groups.size, len(POWERS)), dtype=object)
