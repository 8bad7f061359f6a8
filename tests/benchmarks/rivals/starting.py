"""What every rival here measures first: the single columns, as the portal's own methods do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Domain
from mechanisms.microdata.coarsening import group
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.independent_columns import IndependentColumns
from mechanisms.microdata.latent_classes import COARSENESS
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.mechanism import margins_of, within_groups
from mechanisms.microdata.packing import unpack
from mechanisms.microdata.tables import Grouping
from mechanisms.noise import Noise

MARGIN_SHARE = Fraction(3, 10)


@dataclass(frozen=True)
class Start:
    """Single columns, which of their cells are put together, and the people's rows in groups, which nobody may see."""

    margins: Margins
    grouping: Grouping
    secret: Integers

    @property
    def rows(self) -> int:
        """How many to make."""
        return max(1, round(self.margins.total))

    def shares(self, column: int) -> Floats:
        """Of a column's groups."""
        return self.grouping.vector(self.margins.shares(column), column)

    def cells(self, groups: Integers) -> Integers:
        """(n, d) cells from (n, d) groups, by the columns alone."""
        return within_groups(groups, self.grouping, self.margins, np.random.default_rng())


def start(domain: Domain, rows: Integers, rho: Fraction, noise: Noise) -> Start:
    """Spends `MARGIN_SHARE` of ρ on the columns; cells are put together as in latent classes."""
    method = IndependentColumns()
    whole = method.plan(domain, Wishes(), Loss(Definition.ZCDP, rho))
    plan = replace(whole, loss=Loss(Definition.ZCDP, rho * MARGIN_SHARE))
    counts = np.concatenate([np.bincount(rows[:, j], minlength=c) for j, c in enumerate(domain.shape)])
    measurement = method.measure(plan, counts.astype(np.int64), noise)
    margins = margins_of(plan, unpack(measurement.values)[0])
    grouping = group(domain.attributes, margins, whole.pair_deviation, COARSENESS)
    groups = np.column_stack([grouping.groups[j][rows[:, j]] for j in range(rows.shape[1])])
    return Start(margins, grouping, groups)
