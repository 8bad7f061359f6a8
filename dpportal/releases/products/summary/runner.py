"""Exact counts and sums of every column by groups, their noise, and what is estimated from both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
from mechanisms.summary.column_estimates import Summary
from mechanisms.summary.counts import (
    ColumnCounts,
    ColumnReading,
    column_counts,
    exact_values,
    readings,
    stepwise,
)
from mechanisms.summary.estimates import estimates
from mechanisms.summary.plan import SummaryPlan
from mechanisms.summary.truth import true_summary


class SummaryRunner(Runner[SummaryPlan, Summary]):
    """From rows to exact counts and sums, and from measured ones to a table."""

    def count(self, release: Release, plan: SummaryPlan, key: bytes) -> Counted:
        read = readings(plan)
        if release.dataset.is_remote:
            counts = _counted_by_source(release, plan, read)
        else:
            steps = stepwise(plan)
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
    """(columns of numbers, groups, 6) power sums of an upload, by the same rows as its tables."""
    steps = [reading.steps for reading in read if reading.steps]
    if not steps:
        return np.zeros((0, plan.groups.size, len(POWERS)), dtype=object)
    return records.power_sums(release.dataset, release.declaration, plan.groups, steps, key)


def _counted_by_source(
    release: Release, plan: SummaryPlan, read: Sequence[ColumnReading]
) -> list[ColumnCounts]:
    """Tables and sums in one query: another would draw other rows of a person, and see a table that has changed."""
    groups = plan.groups
    steps = {place: _named(reading.steps, place) for place, reading in enumerate(read) if reading.steps}
    domain = Domain((*groups.attributes, *(reading.cells for reading in read), *steps.values()))
    tables = [
        ((*groups.names, reading.cells.name), steps[place].name if place in steps else "")
        for place, reading in enumerate(read)
    ]
    sums = records.cell_sums(release.dataset, release.declaration, domain, tables)
    ends = np.cumsum([groups.size * reading.cells.size for reading in read])[:-1]
    shaped = (part.reshape(groups.size, -1, 3) for part in np.split(sums, ends))
    return [ColumnCounts.of_cells(own, has_steps=place in steps) for place, own in enumerate(shaped)]


def _named(steps: Attribute, place: int) -> Attribute:
    """Beside its cells, by a name that no declared column has: none begins with a blank."""
    return replace(steps, name=f" {place}", source=steps.column)
