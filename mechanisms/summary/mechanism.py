"""A table of each column at one cost."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from mechanisms.accounting import Definition, Loss
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute, Domain
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement
from mechanisms.summary.plan import SummaryPlan

MAX_COLUMNS = 500
MAX_GROUPS = 20


class ColumnTables:
    """Counts of each column's values by groups, and of numbers running totals and two sums for mean and deviation."""

    name: ClassVar[str] = "column-tables"
    title: ClassVar[str] = "A table of each column"
    summary: ClassVar[str] = (
        "Measures each column once, by groups, at a share of the cost that makes all errors together least, and lets "
        "all columns tell how many people each group has."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})

    def plan(
        self, groups: Domain, columns: Sequence[Attribute], twice: Collection[str], loss: Loss, people: int
    ) -> SummaryPlan:
        """Decide everything without data.

        groups: no attribute, or the one whose cells are the groups. columns: as declared, without that one. twice: names
        of columns whose errors weigh twice. people: the curator's estimate of the number of rows. Raises PlanError.
        """
        raise NotImplementedError

    def measure(self, plan: SummaryPlan, values: Integers, noise: Noise) -> Measurement:
        """Draw the noise: the only step that spends the loss. values: (plan.size,) int64, of `exact_values`."""
        raise NotImplementedError
