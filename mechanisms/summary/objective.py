"""The weighted sum of squared errors that a summary's plan makes least, for noise alone, without data.

Each is relative to the group: of a share, the mean of a column's; of a mean, as a share of its range; of ranks, the
mean of the running totals'. Every one is linear in the noise of its own table and in that of the number n of the
group's people, and where tables are centred these two are independent. So the whole is Σ_c E_c + E_0 Var n̂, and
`split` says which shares of the loss make it least. With N cells, of which p_j is the share of cell j, what n̂ adds to

- shares: the mean of (1/N - p_j)² Var n̂, at most (1 - 1/N)/N of it, where all people are in one cell;
- a mean, (1 + Σu/n)/2: (mean of u)²/4 Var n̂, at most 1/4 of it, at a bound;
- running totals, of cell j ≤ N - 1 with the even spread j/N: the mean of (j/N)² Var n̂, (2N - 1)/(6N) of it.

Why no other plan of such tables has less: measured jointly by any Gaussian strategy, the sums of a column's cells
split into n and what is orthogonal to it, for each column. Those spaces are the residuals of ResidualPlanner (Xiao,
He, Zhang, Kifer 2023), groups with the column and groups alone, whose plan is proved best of all for tables of
categories; a test holds this plan's error against its. Of a line of cells the centred optimum has the certificate of
`matrix.optimise.gaussian`. Measured one by one instead, a column of N categories spends 1/N of its share on telling n
once more, and running totals a quarter. What the last running total, people with a value, adds to a mean is left out
of E_c, since those without a value are measured once more beside the moments; `weighted_error` has all.

Where a person's row is replaced (neighbours replace-one) two rows are as far apart in a centred table as in another,
so that nothing is saved, and tables that tell n, too, are better. Those of few cells tell n well without a table of its
own: `ColumnTables.plan` compares all three. Of one group whose number is public, n̂ has no variance at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechanisms.sensitivity import Sensitivity
from mechanisms.summary.fusion import Model
from mechanisms.summary.plan import CELLS, LINE, MOMENTS, SummaryPlan, TablePlan
from mechanisms.summary.split import MEAN_WEIGHT, QUANTILE_WEIGHT


@dataclass(frozen=True)
class Part:
    """A table before it has its share. column, replaced: what a row moves in it, as for `unit_sensitivity`.

    error: the variance of what is shown, in people, for noise of variance 1, times its weight; without what the number
    of people adds where the table is centred. weight: of one of its squared errors. rounded_by: as of `TablePlan`.
    """

    name: str
    kind: str
    unit: int
    sums: int
    column: Sensitivity
    replaced: Sensitivity
    error: float
    weight: float
    centred: bool = False
    rounded_by: int = 1


def number_weight(parts: Sequence[Part]) -> float:
    """E_0: of the number's own squared error, and of what it adds to those of all other tables."""
    return 1.0 + sum(part.weight * _of_number(part.kind, part.sums) for part in parts)


def _of_number(kind: str, sums: int) -> float:
    if kind == CELLS:
        return (1 - 1 / sums) / sums
    # A centred line has an answer fewer than cells, that of missing values among them.
    return (2 * sums + 1) / (6 * (sums + 1)) if kind == LINE else 1 / 4


def weighted_error(plan: SummaryPlan) -> float:
    """The sum, of one group, in people squared: of tables measured one by one or jointly."""
    model = Model(plan)
    number = error = float(model.number_variances(np.ones(1))[0])
    for table in plan.tables:
        weight = 2 if table.name in plan.twice else 1
        if table.kind == CELLS:
            error += weight * _of_shares(model, table, number)
        elif table.kind == LINE:
            inner = model.covariance(table.name, number)[:-1, :-1]
            totals = np.diag(np.cumsum(np.cumsum(inner, axis=0), axis=1))
            error += weight * QUANTILE_WEIGHT * float(totals.mean())
        elif table.kind == MOMENTS:
            people = model.covariance(table.name, number)[:-1, :-1].sum()
            error += weight * MEAN_WEIGHT * (model.moment_variances(table.name)[0] + float(people)) / 4
    return error


def _of_shares(model: Model, table: TablePlan, number: float) -> float:
    """The mean over cells of the variance of x_j - p_j n, at most: all people are in one cell. number: Var n̂."""
    counts = float(model.variances(table.name, number).mean())
    return counts + number * (1 - 2 / table.sums) / table.sums
