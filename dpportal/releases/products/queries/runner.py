"""The tables of a workload's columns, with the noise of a strategy's sums."""

from __future__ import annotations

import numpy as np

from dpportal.datasets import records
from dpportal.releases.models import Release
from dpportal.releases.products.queries.truth import largest_tables, margin
from dpportal.releases.products.shared.runner import Runner
from dpportal.releases.products.shared.values import Counted
from mechanisms import registry
from mechanisms.matrix.mechanism import QueryPlan, QueryResult
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement


class QueriesRunner(Runner[QueryPlan, QueryResult]):
    """Counts `plan.counted`."""

    def count(self, release: Release, plan: QueryPlan, key: bytes) -> Counted:
        """The tables of `plan.counted`, one after the other.

        One key for all, and rows that any column leaves out are in none: the same rows of a person are kept in each.
        Tables within a larger one that is counted are summed from it.
        """
        largest_of = largest_tables(plan.counted)
        largest = list(dict.fromkeys(largest_of.values()))
        counts = records.count_each(release.dataset, release.declaration, plan.domain, largest, key)
        counted = {
            table: cells.reshape(plan.domain.project(table).shape)
            for table, cells in zip(largest, counts, strict=True)
        }
        parts = [
            margin(counted[largest_of[columns]], largest_of[columns], columns) for columns in plan.counted
        ]
        return Counted.same(np.concatenate([part.ravel() for part in parts]))

    def rows_counted(self, plan: QueryPlan, compared: np.ndarray) -> int:
        """The total of the first table: all count the same rows."""
        return int(compared[: plan.domain.project(plan.counted[0]).size].sum())

    def measure(self, plan: QueryPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.query_mechanism(plan.mechanism).measure(plan, counts, noise)

    def reconstruct(
        self, plan: QueryPlan, measurement: Measurement, stored: np.ndarray | None = None
    ) -> QueryResult:
        return registry.query_mechanism(plan.mechanism).reconstruct(plan, measurement)
