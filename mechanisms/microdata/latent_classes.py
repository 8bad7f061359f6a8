"""Latent classes: pairs chosen in rounds, a mixture fitted to them, rows settled to the mixture's tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mechanisms.accounting import Loss
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Domain
from mechanisms.microdata import mixture
from mechanisms.microdata.agreement import agreed
from mechanisms.microdata.apportioning import dealt, recounted, systematic
from mechanisms.microdata.cell_rows import CellRows, from_columns
from mechanisms.microdata.coarsening import FEWEST, MOST, group, most_groups_of
from mechanisms.microdata.codes import (
    CODES,
    NO_CODES,
    PARTNERS,
    code_steps,
    follow,
    kinds_of,
    measured_codes,
    recorded_codes,
)
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.group_counts import group_counts
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.measuring import measured_tables, recorded_tables
from mechanisms.microdata.mechanism import MARGINS, Microdata, within_groups
from mechanisms.microdata.mixture import CLASSES, Mixture, Target
from mechanisms.microdata.pair_levels import GOOD_PAIRS
from mechanisms.microdata.plan import MeasuredTable, MicrodataPlan, MicrodataResult
from mechanisms.microdata.refining import refined
from mechanisms.microdata.repeated_columns import are_worth_more, measured_again, with_again
from mechanisms.microdata.scoring import (
    Belief,
    distortion,
    grouped,
    independent,
    scores,
    spanning_tree,
)
from mechanisms.microdata.spending import check_tables, score_law
from mechanisms.microdata.swap_matching import MOST_LOOKED_AT
from mechanisms.microdata.swap_refinement import AT_RANDOM, MOST_PAIRS, settle
from mechanisms.microdata.tables import Grouping, Pair, split
from mechanisms.noise import Noise

ROUNDS = 3
SCORES, TABLES = "scores of round {}", "tables of round {}"
COARSENESS = 0.15
# Of a table's expected noise, what the first round takes off its score.
CAUTION = 0.5
# Columns up to which rows are settled, and cells of all of them up to which they are to tables of single cells. Of more
# columns an exchange of one column's values moves ever more tables, by less than the noise in them.
MOST_SETTLED, MOST_REFINED = 60, 2_500
# Fits whose tables rows are settled to the mean of.
STARTS = 4
# Rounds of settling rows: to tables of single cells or, where these are too many, of groups. To tables whose expected
# standard error is smaller than so many rows it takes up to so many times the rounds, or rows are what errs most.
CELL_ROUNDS, GROUP_ROUNDS = 360, 60
FINE, MOST_TIMES = 16, 2.0
# By `tests.benchmarks.microdata`: seconds of all fits for every group of a column; nanoseconds in a round of exchanges
# for every row, for every value of a pair of rows, and for every pair of cells of the column with all others; where
# rows are matched, for every value of a row that is looked at, and seconds of a round besides.
FITTED_SECONDS, FITTED_COLUMNS = 0.003, 60
DEALT_NANOSECONDS, EXCHANGED_NANOSECONDS, MOVED_NANOSECONDS = 60, 30, 10
LOOKED_AT_NANOSECONDS, MATCHED_SECONDS = 7, 0.001
# Of the classes' parameters, and of tables of all pairs, how many are in memory at once. Bytes of a cell while rows are
# settled.
PARAMETER_COPIES, TABLE_COPIES, SETTLED_BYTES = 9, 3, 4
# Of every pair of columns that is measured while classes are fitted, and all of them may be.
FITTED_BYTES = 2 * 2**10


class LatentClasses(Microdata):
    """Pairs that independence gets most wrong are measured first, then those that the fitted classes get wrong.

    Each round scores all pairs at once (`spending.score_law`) and measures the chosen ones over groups of cells
    (`spending.table_laws`), or every column again where that brings pairs nearer (`repeated_columns`). Choices, groups
    and fits are made from noisy answers.
    """

    name = "latent-classes"
    title = "Latent classes"
    summary = (
        "Measures the pairs of columns that tell most, in three rounds, or columns again where pairs would be mostly "
        "noise, and fits a mixture of independent columns to all of it, no further than the noise allows."
    )
    most_groups = 6_100
    measures_pairs = True
    without_pairs = (
        "at this cost tables of pairs would be mostly noise, so every column was counted several times."
    )
    relied_on = GOOD_PAIRS
    coarseness = COARSENESS
    keeps_dependencies = True
    simulated_last = True
    microseconds_per_value = 0.5
    shares = {
        MARGINS: Fraction(3, 10),
        **{
            name.format(round_): share
            for round_ in range(1, ROUNDS + 1)
            for name, share in ((SCORES, Fraction(1, 10 * ROUNDS)), (TABLES, Fraction(6, 10 * ROUNDS)))
        },
    }

    def further_seconds(self, plan: MicrodataPlan, people: int, rows: int) -> float:
        """Of the mixture's fits, and of settling rows."""
        return _fit_seconds(plan, people) + _settling_seconds(plan, rows)

    def further_memory(self, plan: MicrodataPlan, people: int, rows: int) -> int:
        """Of the classes, of rows while they are settled, and of tables of all pairs."""
        shape = plan.domain.shape
        groups, cells = sum(map(most_groups_of, shape)), sum(shape)
        taken = PARAMETER_COPIES * 4 * CLASSES * groups + FITTED_BYTES * len(plan.tables.pairs)
        if len(shape) <= MOST_SETTLED:
            taken += SETTLED_BYTES * rows * len(plan.shape_of_rows)
            taken += TABLE_COPIES * 8 * max(groups, cells if cells <= MOST_REFINED else 0) ** 2
        return taken

    def _shares(self, domain: Domain, wishes: Wishes, keep: int | None) -> Mapping[str, Fraction]:
        codes = code_steps(domain, wishes)
        left = 1 - sum(codes.values(), Fraction(0))
        others = super()._shares(domain, wishes, keep)
        return {**{step: share * left for step, share in others.items()}, **codes}

    def _own_shares(self, required: Sequence[Pair], columns: int) -> Mapping[str, Fraction]:
        """A single pair is measured once and needs no score."""
        if columns == 2:
            return {MARGINS: Fraction(1, 3), TABLES.format(1): Fraction(2, 3)}
        return self.shares

    def _check_noise(self, plan: MicrodataPlan) -> None:
        pairs = len(plan.tables.pairs)
        if CODES in plan.shares:
            check_tables(pairs, plan.tables.largest, plan.step(CODES))
        if PARTNERS in plan.shares:
            score_law(pairs, plan.step(PARTNERS))
        for round_ in _rounds(plan):
            if SCORES.format(round_) in plan.shares:
                score_law(pairs, plan.step(SCORES.format(round_)))
            check_tables(pairs, plan.tables.largest, plan.step(TABLES.format(round_)))

    def _further(
        self, plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise
    ) -> Sequence[np.ndarray]:
        """The groups of each column's cells, then of each round noisy scores, chosen pairs and their noisy tables.

        After the groups what codes go with, recorded as a round is. No scores where there is a single pair. Where
        columns are measured again there are no pairs, and one vector of noisy counts in place of tables.
        """
        has_codes = CODES in plan.shares
        codes = measured_codes(plan, counts, margins, noise) if has_codes else NO_CODES
        kinds = kinds_of(plan, codes, margins)
        grouping = group(plan.domain.attributes, margins, plan.pair_deviation, COARSENESS, kinds)
        grouping = plan.wishes.impossible(plan.domain).among_groups(grouping)
        seen: list[np.ndarray] = [np.concatenate(grouping.groups), *(codes.record() if has_codes else ())]
        pairs, tables = plan.tables.pairs, list[MeasuredTable]()
        for round_ in _rounds(plan):
            loss = plan.step(TABLES.format(round_))
            noisy, chosen = np.empty(0, dtype=np.int64), list(pairs)
            if SCORES.format(round_) in plan.shares:
                believed = _believed(grouping, margins, tables)
                law = score_law(len(pairs), plan.step(SCORES.format(round_)))
                noisy = scores(plan, counts, grouping, believed, pairs) + noise.draw(law, len(pairs))
                choose = worst_pairs if tables else first_pairs
                chosen = choose(plan, noisy, grouping, loss)
                if not plan.wishes.required and are_worth_more(plan, margins, noisy, chosen, grouping, loss):
                    again = measured_again(plan, counts, loss, noise)
                    margins = with_again(plan, margins, again, loss)
                    seen += [noisy, np.empty(0, dtype=np.int64), again]
                    continue
            measured = measured_tables(plan, counts, grouping, chosen, loss, noise)
            tables += measured
            seen += [noisy, np.array(chosen, dtype=np.int64).ravel(), *(t.values for t in measured)]
        return seen

    def recorded(
        self, plan: MicrodataPlan, further: Sequence[Integers]
    ) -> tuple[Grouping, list[MeasuredTable]]:
        record = _Record.of(plan, further)
        return record.grouping, record.tables

    def _all_margins(self, plan: MicrodataPlan, margins: Margins, further: Sequence[Integers]) -> Margins:
        for again, loss in _Record.of(plan, further).again:
            margins = with_again(plan, margins, again, loss)
        return margins

    def _with_rows(
        self,
        plan: MicrodataPlan,
        result: MicrodataResult,
        margins: Margins,
        further: Sequence[Integers],
        random: np.random.Generator,
    ) -> MicrodataResult:
        grouping, tables = self.recorded(plan, further)
        grouping = plan.wishes.impossible(plan.domain).among_groups(grouping)
        model = fitted_mixture(grouping, margins, tables)
        groups = rows_of(model, len(result.rows), random)
        is_settled = len(plan.domain.shape) <= MOST_SETTLED
        is_refined = is_settled and sum(plan.domain.shape) <= MOST_REFINED
        target = target_tables(model, margins, tables) if is_settled else np.empty((0, 0))
        if is_settled and not is_refined:
            groups = settle(groups, grouping.sizes, target, GROUP_ROUNDS, random)
        rows = within_groups(groups, grouping, margins, random)
        if is_refined:
            impossible = plan.wishes.impossible(plan.domain)
            cells = refined(plan.domain.attributes, grouping, margins, target, impossible)
            rows = settle(rows, plan.domain.shape, cells, _cell_rounds(plan), random)
        return replace(result, rows=rows, grouping=grouping if tables else None, tables=tuple(tables))

    def _keep_dependencies(
        self, plan: MicrodataPlan, rows: CellRows, margins: Margins, further: Sequence[Integers]
    ) -> None:
        if plan.wishes.follows:
            codes = recorded_codes(plan, iter(further[1:])) if CODES in plan.shares else NO_CODES
            follow(rows, plan, codes, margins)


class _Record(NamedTuple):
    """What `_further` measured. again: noisy counts of all columns, with what each measurement of them cost."""

    grouping: Grouping
    tables: list[MeasuredTable]
    again: list[tuple[Integers, Loss]]

    @classmethod
    def of(cls, plan: MicrodataPlan, further: Sequence[Integers]) -> _Record:
        parts = iter(further)
        record = cls(Grouping(tuple(split(next(parts), plan.domain.shape))), [], [])
        if CODES in plan.shares:
            recorded_codes(plan, parts)
        for round_ in _rounds(plan):
            loss, _noisy, pairs = plan.step(TABLES.format(round_)), next(parts), next(parts)
            if pairs.size:
                record.tables.extend(recorded_tables(plan, record.grouping, pairs, loss, parts))
            else:
                record.again.append((next(parts), loss))
        return record


def _rounds(plan: MicrodataPlan) -> list[int]:
    """Those in which tables are measured."""
    return [round_ for round_ in range(1, ROUNDS + 1) if TABLES.format(round_) in plan.shares]


def _believed(grouping: Grouping, margins: Margins, tables: Sequence[MeasuredTable]) -> Belief:
    """What is known before a round: independence, then the mixture for what was measured."""
    if not tables:
        return independent(grouping, margins)
    fitted = fitted_mixture(grouping, margins, tables)
    return lambda pair: fitted.table(pair) * margins.total


def first_pairs(plan: MicrodataPlan, noisy: Integers, grouping: Grouping, loss: Loss) -> list[Pair]:
    """The required pairs, and a tree over all columns of largest scores, less some of the noise of their tables."""
    pairs, required = plan.tables.pairs, plan.wishes.required_pairs(plan.domain)
    each = replace(loss, amount=loss.amount / (len(plan.domain.shape) - 1))
    worth = [
        _weighted(plan, pair, score - CAUTION * distortion([grouping.cells(pair)], each))
        for pair, score in zip(pairs, noisy.tolist(), strict=True)
    ]
    tree = spanning_tree(len(plan.domain.shape), pairs, worth, required)
    return sorted({*tree, *required})


def worst_pairs(plan: MicrodataPlan, noisy: Integers, grouping: Grouping, loss: Loss) -> list[Pair]:
    """Pairs by falling score, as long as each promises more than it adds to the noise of all (Zhang et al. 2021).

    The best is always taken: its round is paid for.
    """
    worth = [_weighted(plan, p, s) for p, s in zip(plan.tables.pairs, noisy.tolist(), strict=True)]
    best_first = sorted(zip(plan.tables.pairs, worth, strict=True), key=lambda item: -item[1])
    chosen, cells, error = list[Pair](), list[int](), 0.0
    # The error with one more table, by its cells: of thousands of pairs few differ in size.
    with_another = dict[int, float]()
    for pair, value in best_first:
        size = grouping.cells(pair)
        if size not in with_another:
            with_another[size] = distortion([*cells, size], loss)
        if not chosen or value > with_another[size] - error:
            error = with_another[size]
            chosen.append(pair)
            cells.append(size)
            with_another.clear()
    return sorted(chosen)


def _weighted(plan: MicrodataPlan, pair: Pair, value: float) -> float:
    return value * plan.wishes.pair_weight(plan.domain, pair) if value > 0 else value


def fitted_mixture(
    grouping: Grouping, margins: Margins, tables: Sequence[MeasuredTable], start_number: int = 0
) -> Mixture:
    """The mixture for what was measured, with the columns' counts as all of it together tells them.

    The fit stops within the noise of the tables, which is more than that of these counts.
    """
    counts, targets = grouped(grouping, margins), targets_of(tables)
    fitted = mixture.fit(grouping, counts, margins.variances, targets, margins.total, start_number)
    return fitted.with_counts(group_counts(grouping, margins, tables))


def target_tables(model: Mixture, margins: Margins, tables: Sequence[MeasuredTable]) -> Floats:
    """(S, S) shares of all pairs of groups that rows are settled to: of the model and of fits from other starts."""
    fits = [model.tables()]
    for number in range(1, STARTS):
        fits.append(fitted_mixture(model.grouping, margins, tables, number).tables())
    return agreed(model.grouping, fits, targets_of(tables), margins.total)


def targets_of(tables: Sequence[MeasuredTable]) -> dict[Pair, Target]:
    """What was measured of each pair; repeated tables are combined by their precision."""
    targets: dict[Pair, Target] = {}
    for table in tables:
        own = Target(table.values.astype(float), table.variance)
        before = targets.get(table.pair)
        targets[table.pair] = own if before is None else _combined(before, own)
    return targets


def _combined(one: Target, other: Target) -> Target:
    both = 1 / one.variance + 1 / other.variance
    return Target((one.table / one.variance + other.table / other.variance) / both, 1 / both)


def rows_of(model: Mixture, count: int, random: np.random.Generator) -> CellRows:
    """(count, d) groups, class by class; columns have the model's counts, which whole numbers in classes miss."""
    sizes = systematic(model.weights[None, :].astype(float), np.array([count]), random)[0]
    classes = np.repeat(np.arange(sizes.size), sizes)
    columns = (_column_of(model, column, classes, random) for column in range(len(model.grouping.sizes)))
    return from_columns(columns, count, model.grouping.sizes)


def _column_of(model: Mixture, column: int, classes: Integers, random: np.random.Generator) -> Integers:
    shares = model.shares[:, model.grouping.place(column)].astype(float)
    own = dealt(classes, shares, random)
    counts = systematic((model.weights @ shares)[None, :], np.array([classes.size]), random)[0]
    return recounted(own, counts, random)


def _fit_seconds(plan: MicrodataPlan, people: int) -> float:
    """More groups take longer, and of more columns more pairs of them are measured."""
    most = math.sqrt(COARSENESS * max(1, people) / (0.4 * plan.pair_deviation))
    shape = plan.shape_of_rows
    groups = sum(min(most_groups_of(size), max(FEWEST, min(MOST, most))) for size in shape)
    return FITTED_SECONDS * groups * (1 + len(shape) / FITTED_COLUMNS)


def _settling_seconds(plan: MicrodataPlan, rows: int) -> float:
    shape = plan.shape_of_rows
    if len(shape) > MOST_SETTLED:
        return 0.0
    is_refined = sum(shape) <= MOST_REFINED
    sizes = shape if is_refined else [most_groups_of(size) for size in shape]
    rounds = _cell_rounds(plan) if is_refined else GROUP_ROUNDS
    at_random, moved = min(rounds, AT_RANDOM * len(sizes)), MOVED_NANOSECONDS * sum(sizes) ** 2 / len(sizes)
    paired = DEALT_NANOSECONDS * rows + EXCHANGED_NANOSECONDS * min(rows // 2, MOST_PAIRS) * len(sizes)
    matched = LOOKED_AT_NANOSECONDS * min(rows, MOST_LOOKED_AT) * len(sizes)
    seconds = 1e-9 * (at_random * paired + (rounds - at_random) * matched + rounds * moved)
    return seconds + MATCHED_SECONDS * (rounds - at_random)


def _cell_rounds(plan: MicrodataPlan) -> int:
    return round(CELL_ROUNDS * min(MOST_TIMES, max(1.0, FINE / plan.pair_deviation)))
