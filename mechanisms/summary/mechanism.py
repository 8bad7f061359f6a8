"""A table of each column at one cost."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.arrays import Integers
from mechanisms.calibration import MAX_SCALE, law_for, scale_squared, too_small
from mechanisms.domain import Attribute, Domain
from mechanisms.moments.mechanism import FINEST_ROUNDED, LARGEST_SUM, check_people, rows_in_full
from mechanisms.noise import Noise
from mechanisms.noise.sampler import WIDEST
from mechanisms.protocol import Measurement, PlanError
from mechanisms.sensitivity import Sensitivity, unit_sensitivity
from mechanisms.summary.counts import FINEST, reading
from mechanisms.summary.line import LineColumn, is_line
from mechanisms.summary.objective import Part, number_weight, weighted_error
from mechanisms.summary.plan import CELLS, LINE, MOMENTS, NUMBER, SummaryPlan, TablePlan
from mechanisms.summary.running_totals import (
    GRID,
    RunningTotals,
    best_running_totals,
    centred_running_totals,
)
from mechanisms.summary.split import MEAN_WEIGHT, QUANTILE_WEIGHT, best_shares
from mechanisms.validation import check_amount, known_rows

MAX_COLUMNS = 500
MAX_GROUPS = 20
MAX_CATEGORIES = 10_000
MAX_MEASURED = 2**24


@dataclass(frozen=True)
class PlanKind:
    """What a plan measures. counted: the numbers of the groups by themselves. centred: all else given these alone."""

    counted: bool
    centred: bool


APART, COUNTED, JOINT = PlanKind(False, False), PlanKind(True, False), PlanKind(True, True)


def _kind_of(plan: SummaryPlan) -> PlanKind:
    """Raises ValueError for a plan whose tables need numbers of groups that nothing tells."""
    kind = PlanKind(any(table.kind == NUMBER for table in plan.tables), plan.is_joint)
    if kind not in (APART, COUNTED, JOINT):
        raise ValueError("centred tables need the numbers of the groups")
    return kind


class ColumnTables:
    """Counts of each column's values by groups, and of numbers running totals and two sums for mean and deviation.

    Sensitivity: a row is in one group, and moves its group's numbers in each table; tables are composed, each with its
    share of the loss. With K = `unit`: in a table of cells it adds K to one. In a line it adds a column of the
    strategy, whose norms and distances are worked out in whole numbers. For the moments, with v in 0..W and u = 2v - W,
    it adds kWu and kb(W² - u²), with K = kW² and b = 1/2 of ε, 1 of ρ. As |u| <= W, W|u| + (W² - u²)/2 <= W², for that
    is (W - |u|)² >= 0; and W²u² + (W² - u²)² = W⁴ - u²(W² - u²) <= W⁴. So ‖a‖₁ <= K, ‖a‖₂² <= K², both reached at a
    bound; a row without a value adds K to a sum of its own. Two rows' vectors are at most 2K apart, as those of both
    bounds are. Where W is large, these sums are divided by W and rounded down, so that K = kW: each that differs does
    so by less than 1 more. Of n sums Σ(|d| + 1) = Σ|d| + n, and Σ(|d| + 1)² = Σd² + 2Σ|d| + n; m rows move at most m
    times as many, and at most m times as far.

    Every table of cells and every line tells how many people a group has, too. The number is measured by itself as well
    where that makes the weighted error less (`objective`): not where it is public, nor where tables of few cells tell
    it well. Under ρ there is a joint plan besides; of all, the one with the least error is taken. In the joint one the
    number of a group's people is measured once, and every other table is centred: of categories, with h = K/m for m
    cells, a row adds hm to its cell and takes h from all, so ‖a‖₁ = 2h(m - 1), ‖a‖₂² = h²m(m - 1) <= K²; two rows of a
    group are 2K apart in L1, and 2K² in squared L2; of two groups 4h(m - 1) and 2h²m(m - 1), which is less in L2.
    """

    name: ClassVar[str] = "column-tables"
    title: ClassVar[str] = "A table of each column"
    summary: ClassVar[str] = (
        "Measures each column once, by groups, at a share of the cost that makes all errors together least, and lets "
        "all columns tell how large each group is."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})

    def plan(
        self,
        groups: Domain,
        columns: Sequence[Attribute],
        twice: Collection[str],
        loss: Loss,
        people: int | None,
        total: int | None = None,
    ) -> SummaryPlan:
        """Decide everything without data.

        groups: no attribute, or the one whose cells are the groups. columns: as declared, without that one.
        twice: names of columns whose errors weigh twice. people: the curator's estimate of the number of rows; None
        where `total`, their exact number, is public and known. Raises PlanError for what cannot be measured.
        """
        expected = total if people is None else people
        check_people(expected)
        if expected is None:
            raise PlanError("Say about how many people there are: what to expect depends on it.")
        known = known_rows(total, loss.for_domain(groups).unit)
        kinds = [APART, COUNTED] if loss.definition is Definition.PURE else [APART, COUNTED, JOINT]
        plans = [self.composed(groups, columns, twice, loss, expected, kind) for kind in kinds]
        return min((replace(plan, total=known) for plan in plans), key=weighted_error)

    def composed(
        self,
        groups: Domain,
        columns: Sequence[Attribute],
        twice: Collection[str],
        loss: Loss,
        people: int,
        kind: PlanKind,
    ) -> SummaryPlan:
        """One of the plans that `plan` compares. A joint one only under ρ: in L1 a centred row is no shorter than K."""
        _check(groups, columns, twice)
        check_amount(loss)
        lines = _lines(columns)
        strategies = {
            cells: centred_running_totals(cells)
            if kind.centred
            else best_running_totals(cells, loss.definition)
            for cells in sorted({line.cells for line in lines.values()})
        }
        parts = _parts(columns, lines, twice, strategies, kind)
        if groups.size * sum(part.sums for part in parts) > MAX_MEASURED:
            raise PlanError("These are too many values in all. Choose fewer columns, or fewer groups.")
        loss = loss.for_domain(groups)
        energies = [part.error * _moved(part, loss.unit, loss.definition) for part in parts]
        tables = _tables(parts, best_shares(energies, loss.definition), loss, people)
        names = tuple(a.name for a in columns if a.name in twice)
        return SummaryPlan(
            self.name,
            groups,
            tuple(columns),
            lines,
            strategies,
            names,
            people,
            loss,
            tables,
            _explanation(tables, loss.unit),
        )

    def again(self, plan: SummaryPlan) -> SummaryPlan:
        """A plan made anew from its strategies' whole weights and its shares of the loss.

        How these were found has no part in what the plan promises, and another processor's floats may find others.
        Raises PlanError for what cannot be measured, ValueError where the shares are not those of one loss.
        """
        _check(plan.groups, plan.columns, plan.twice)
        check_amount(plan.loss)
        shares = [table.share for table in plan.tables]
        if min(shares) <= 0 or sum(shares) > 1:
            raise ValueError("shares must be above 0, and all together at most 1")
        if any(own.cells != cells for cells, own in plan.strategies.items()):
            raise ValueError("a strategy must have the cells that it is stated for")
        lines, loss = _lines(plan.columns), plan.loss.for_domain(plan.groups)
        parts = _parts(plan.columns, lines, plan.twice, plan.strategies, _kind_of(plan))
        tables = _tables(parts, shares, loss, plan.people)
        text = _explanation(tables, loss.unit)
        total = plan.total if loss.unit.total_public and (plan.total or 0) >= 0 else None
        return replace(plan, lines=lines, loss=loss, tables=tables, explanation=text, total=total)

    def measure(self, plan: SummaryPlan, values: Integers, noise: Noise) -> Measurement:
        """Draw the noise: the only step that spends the loss.

        values: (plan.size,) int64, of `exact_values`. Raises ValueError for another shape.
        """
        if values.shape != (plan.size,) or values.dtype != np.int64:
            raise ValueError(f"values must be int64 of shape ({plan.size},), got {values.dtype}")
        noises = [noise.draw(table.noise, plan.groups.size * table.sums) for table in plan.tables]
        return Measurement(values + np.concatenate(noises))


def _check(groups: Domain, columns: Sequence[Attribute], twice: Collection[str]) -> None:
    _check_groups(groups)
    if not 1 <= len(columns) <= MAX_COLUMNS:
        raise PlanError("Choose between 1 and {max_columns} columns.", max_columns=MAX_COLUMNS)
    names = [column.name for column in columns]
    if again := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise PlanError("{name} is chosen twice. Choose each column once.", name=again[0])
    if unknown := [name for name in twice if name not in names]:
        raise PlanError(
            "{name} is to matter twice, but is none of the columns. Choose it, or leave it out.",
            name=unknown[0],
        )
    for column in columns:
        if column.name in groups.names:
            raise PlanError(
                "{name} says the groups, so it is not described, too. Choose other columns.", name=column.name
            )
        if not is_line(column) and column.size > MAX_CATEGORIES:
            raise PlanError(
                "{name} has {size:,} values; at most {max_categories:,} can be told. Leave it out, or declare "
                "fewer.",
                name=column.name,
                size=column.size,
                max_categories=MAX_CATEGORIES,
            )


def _check_groups(groups: Domain) -> None:
    if len(groups.attributes) > 1:
        raise PlanError("Choose at most one column for the groups.")
    if groups.size > MAX_GROUPS:
        raise PlanError(
            "{column} makes {size:,} groups; a summary has at most {max_groups}. Choose another column, or "
            "declare fewer values or wider bins for it.",
            column=groups.names[0],
            size=groups.size,
            max_groups=MAX_GROUPS,
        )


def _lines(columns: Sequence[Attribute]) -> dict[str, LineColumn]:
    return {a.name: LineColumn.of(a) for a in columns if is_line(a)}


def _parts(
    columns: Sequence[Attribute],
    lines: Mapping[str, LineColumn],
    twice: Collection[str],
    strategies: Mapping[int, RunningTotals],
    kind: PlanKind,
) -> list[Part]:
    """The tables without their shares, the numbers of the groups first if they are measured."""
    parts: list[Part] = []
    for a in columns:
        weight = 2 if a.name in twice else 1
        if a.name in lines:
            parts += _line(lines[a.name], strategies, weight)
        else:
            cells = reading(a, None).cells.size
            # A single cell departs from nothing.
            of = _centred if kind.centred and cells > 1 else _counted
            parts.append(of(a.name, CELLS, cells, weight))
    if not kind.counted:
        return parts
    return [_counted("", NUMBER, 1, number_weight(parts) if kind.centred else 1.0), *parts]


def _tables(
    parts: Sequence[Part], shares: Sequence[Fraction], loss: Loss, people: int
) -> tuple[TablePlan, ...]:
    return tuple(_table(part, share, loss, people) for part, share in zip(parts, shares, strict=True))


def _counted(name: str, kind: str, cells: int, weight: float) -> Part:
    row = Sensitivity(FINEST, FINEST**2)
    return Part(name, kind, FINEST, cells, row, _of_two_rows(row), weight / FINEST**2, weight)


def _centred(name: str, kind: str, cells: int, weight: float) -> Part:
    """How many people of each cell there are beyond an even spread."""
    evenly = -(-FINEST // cells)
    unit = evenly * cells
    row = Sensitivity(2 * evenly * (cells - 1), evenly * unit * (cells - 1))
    apart = Sensitivity(max(2 * unit, 2 * row.l1), 2 * unit**2)
    error = weight * (1 - 1 / cells) / unit**2
    return Part(name, kind, unit, cells, row, apart, error, weight, centred=True)


def _of_two_rows(row: Sensitivity) -> Sensitivity:
    """The distance of two rows that share no sum."""
    return Sensitivity(2 * row.l1, 2 * row.l2_squared)


def _line(line: LineColumn, strategies: Mapping[int, RunningTotals], weight: float) -> list[Part]:
    """The running totals of a column, and its moments: a mean as a share of the range is off by half of its sum."""
    name, own, steps = line.attribute.name, strategies[line.cells], line.measured.steps
    unit, rounded_by = _moment_unit(steps)
    row, apart = Sensitivity(unit, unit**2), Sensitivity(2 * unit, 4 * unit**2)
    if rounded_by > 1:
        row, apart = _rounded(row, 3), _rounded(apart, 6)
    means, ranks = weight * MEAN_WEIGHT, weight * QUANTILE_WEIGHT
    error, step, centred = ranks * own.total_variance, own.missing or GRID, own.is_centred
    return [
        Part(name, LINE, step, own.answers, own.column, own.replaced, error, ranks, centred),
        Part(name, MOMENTS, unit, 3, row, apart, means / 4 / unit**2, means, rounded_by=rounded_by),
    ]


def _moment_unit(steps: int) -> tuple[int, int]:
    """What a row adds in all to the sums of moments, and what exact sums are divided by: W, where W² is large."""
    if steps**2 <= FINEST_ROUNDED:
        return steps**2 * -(-FINEST // steps**2), 1
    return steps * -(-FINEST_ROUNDED // steps), steps


def _rounded(exact: Sensitivity, sums: int) -> Sensitivity:
    """Of so many sums that are rounded down: each that differs does so by less than 1 more.

    Under ρ, where b = 1, Σ|d| is at most 5/4 of what it is under ε: W|u| + W² - u² <= 5/4 W².
    """
    return Sensitivity(exact.l1 + sums, exact.l2_squared - (-5 * exact.l1 // 2) + sums)


def _moved(part: Part, unit: PrivacyUnit, definition: Definition) -> float:
    """The variance of the noise, at the whole loss, up to what is the same for all tables."""
    moved = unit_sensitivity(unit, part.column, part.replaced)
    return float(moved.l1**2 if definition is Definition.PURE else moved.l2_squared)


def _table(part: Part, share: Fraction, loss: Loss, people: int) -> TablePlan:
    own = replace(loss, amount=loss.amount * share)
    moved = unit_sensitivity(loss.unit, part.column, part.replaced)
    law = law_for(own, moved)
    if scale_squared(law) > (MAX_SCALE * part.unit) ** 2:
        raise too_small(loss)
    if scale_squared(law) > WIDEST**2 or part.unit * rows_in_full(people, loss.unit) > LARGEST_SUM:
        raise PlanError(
            "{column}: at this cost the sums, with their noise, would exceed 64 bits. Leave out the "
            "column, choose fewer, or spend more.",
            column=part.name or "Numbers",
        )
    return TablePlan(
        part.name, part.kind, part.unit, share, part.sums, moved, law, part.centred, part.rounded_by
    )


def _explanation(tables: Sequence[TablePlan], unit: PrivacyUnit) -> str:
    errors = [table.noise.standard_error / table.unit for table in tables if table.kind in (NUMBER, CELLS)]
    if not errors:
        return (
            f"Measures {len(tables):,} tables: of each column its running totals and two sums for mean and deviation, "
            "which tell the numbers of the groups, too. Each has the share of the cost that makes all errors together "
            "least; what several tables tell is put together."
        )
    ends = [f"{end:.3g}" for end in (min(errors), max(errors))]
    size, counted = "–".join(dict.fromkeys(ends)), "rows" if unit.counts_rows else "people"
    if tables[0].kind == NUMBER:
        return (
            f"Measures {len(tables):,} tables: the numbers of the groups, the values of each column of categories, and "
            "of each column of numbers its running totals and two sums for mean and deviation. Each has the share of "
            f"the cost that makes all errors together least. The standard error of a count is {size} {counted}; "
            "what several tables tell is put together."
        )
    return (
        f"Measures {len(tables):,} tables: the values of each column of categories, and of each column of numbers its "
        "running totals and two sums for mean and deviation; all of them tell the numbers of the groups, too. Each has "
        f"the share of the cost that makes all errors together least. The standard error of a count is {size} "
        f"{counted}; what several tables tell is put together."
    )
