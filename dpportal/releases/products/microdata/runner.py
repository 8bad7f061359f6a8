"""Tables of single columns and pairs, and whole rows for a method that asks for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpportal.datasets import records
from dpportal.releases.models import Release
from dpportal.releases.products.microdata import comparison, stored_rows
from dpportal.releases.products.shared.runner import Runner
from dpportal.releases.products.shared.values import Counted
from mechanisms import registry
from mechanisms.microdata.column_sums import sums_plan
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.replicates import replicates
from mechanisms.moments.mechanism import exact_sums
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement


class MicrodataRunner(Runner[MicrodataPlan, MicrodataResult]):
    """Counts `plan.counted`, and what only the compare page needs."""

    def count(self, release: Release, plan: MicrodataPlan, key: bytes) -> Counted:
        """Measured: the tables of `plan.counted`, whole rows for a method that asks, and the plan's sums of columns.

        Compared: these tables, and those that only the compare page needs; of whole rows nothing. The same rows count
        everywhere.
        """
        dataset, version = release.dataset, release.declaration
        tables = [*plan.counted, *comparison.further_tables(plan)]
        counts = records.count_tables(dataset, version, plan.domain, tables, key)
        measured = [counts[: plan.cells]]
        if registry.microdata(plan.mechanism).whole_rows:
            measured.append(records.packed_rows(dataset, version, plan.domain, key))
        if plan.sums:
            moments = sums_plan(plan)
            readings = [c.column.reading for c in moments.columns]
            powers = records.power_sums(dataset, version, moments.groups, readings, key)
            measured.append(exact_sums(moments, powers).ravel())
        return Counted(np.concatenate(measured), counts)

    def rows_counted(self, plan: MicrodataPlan, compared: np.ndarray) -> int:
        """The total of the first table: all count the same rows."""
        return int(compared[: plan.domain.project(plan.counted[0]).size].sum())

    def measure(self, plan: MicrodataPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.microdata(plan.mechanism).measure(plan, counts, noise)

    def reconstruct(
        self, plan: MicrodataPlan, measurement: Measurement, stored: np.ndarray | None = None
    ) -> MicrodataResult:
        """With the stored rows: fits in floats end a little apart on another kind of processor, and rows far apart."""
        method = registry.microdata(plan.mechanism)
        result = method.reconstruct(plan, measurement)
        if stored is None:
            return replace(result, replicates=replicates(method, plan, measurement))
        rows, further = stored_rows.unpack(plan, stored)
        return replace(result, rows=rows, replicates=further)
