"""A tree of pairs: one table for each edge, chosen privately, and rows grown from the root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from mechanisms.accounting import Loss
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Domain
from mechanisms.microdata.apportioning import dealt
from mechanisms.microdata.cell_rows import CellRows, empty_rows
from mechanisms.microdata.coarsening import group
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.group_counts import group_counts
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.measuring import measured_tables, recorded_tables
from mechanisms.microdata.mechanism import MARGINS, Microdata, within_groups
from mechanisms.microdata.pair_levels import GOOD_PAIRS
from mechanisms.microdata.plan import MeasuredTable, MicrodataPlan, MicrodataResult
from mechanisms.microdata.scoring import distortion, independent, parts, scores, spanning_tree
from mechanisms.microdata.spending import check_tables, pick_rate
from mechanisms.microdata.table_with_sums import with_sums
from mechanisms.microdata.tables import Grouping, Pair, split
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.selection import ExponentialMechanism

CHOICES, TABLES = "choice of pairs", "tables"
COARSENESS = 0.5
# Of a table's expected noise, what is taken off its score.
CAUTION = Fraction(1, 4)


class TreeOfPairs(Microdata):
    """Pairs that form a tree, of largest scores, by the exponential mechanism; the rows are a Markov tree's.

    A score ‖C - Ĉ‖₁ of integers moves by at most Δ₁ of a table's counts, Ĉ being public; times a public weight, by at
    most Δ₁ times the largest weight. Each of the at most d - 1 picks (Kruskal: the best pair that joins two parts)
    costs an equal part of its step, ε²/8 <= ρ or ε. What is taken off for noise is the same for all tables of data.
    Source: McKenna, Miklau, Sheldon 2021 (MST), with other shares, scores over groups of cells, and other rows.
    """

    name = "tree-of-pairs"
    title = "Tree of pairs"
    summary = "Measures the tables of pairs that form a tree, chosen by how much they tell. Made in a second."
    shares = {MARGINS: Fraction(1, 3), CHOICES: Fraction(1, 3), TABLES: Fraction(1, 3)}
    measures_pairs = True
    relied_on = GOOD_PAIRS
    coarseness = COARSENESS
    microseconds_per_value = 0.6

    def _check(self, domain: Domain, wishes: Wishes, keep: int | None) -> None:
        required = wishes.required_pairs(domain)
        if len(spanning_tree(len(domain.shape), [], [], required)) < len(required):
            raise PlanError(
                "The required pairs form a circle, and a tree has none. Choose latent classes, or drop one."
            )

    def _own_shares(self, required: Sequence[Pair], columns: int) -> Mapping[str, Fraction]:
        if columns == 2 or len(required) == columns - 1:
            return {MARGINS: Fraction(1, 2), TABLES: Fraction(1, 2)}
        return self.shares

    def _check_noise(self, plan: MicrodataPlan) -> None:
        columns = len(plan.domain.shape)
        if CHOICES in plan.shares:
            pick_rate(plan.step(CHOICES), columns - 1)
        check_tables(columns - 1, plan.tables.largest, plan.step(TABLES))

    def _further(
        self, plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise
    ) -> Sequence[np.ndarray]:
        """The groups of each column's cells, the chosen pairs, and their noisy tables."""
        # Without what cannot occur: only a pair that is chosen takes its zeros into the tree.
        grouping = group(plan.domain.attributes, margins, plan.pair_deviation, COARSENESS)
        chosen = _chosen_tree(plan, counts, grouping, margins, noise)
        tables = measured_tables(plan, counts, grouping, chosen, plan.step(TABLES), noise)
        return [
            np.concatenate(grouping.groups),
            np.array(chosen, dtype=np.int64),
            *(t.values for t in tables),
        ]

    def recorded(
        self, plan: MicrodataPlan, further: Sequence[Integers]
    ) -> tuple[Grouping, list[MeasuredTable]]:
        groups, pairs, *values = further
        grouping = Grouping(tuple(split(groups, plan.domain.shape)))
        return grouping, recorded_tables(plan, grouping, pairs, plan.step(TABLES), iter(values))

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
        grown = _grown(_fitted(grouping, margins, tables), grouping, len(result.rows), random)
        rows = within_groups(grown, grouping, margins, random)
        return replace(result, rows=rows, grouping=grouping, tables=tuple(tables))


def _chosen_tree(
    plan: MicrodataPlan, counts: Integers, grouping: Grouping, margins: Margins, noise: Noise
) -> list[Pair]:
    pairs, columns = plan.tables.pairs, len(plan.domain.shape)
    tree = spanning_tree(columns, [], [], plan.wishes.required_pairs(plan.domain))
    picks = columns - 1 - len(tree)
    if not picks or CHOICES not in plan.shares:
        return sorted(tree or pairs)
    weights = np.array([plan.wishes.pair_weight(plan.domain, pair) for pair in pairs])
    rate = pick_rate(plan.step(CHOICES), picks) / int(weights.max())
    each = replace(plan.step(TABLES), amount=plan.step(TABLES).amount / (columns - 1))
    noise_terms = np.array([_noise_term(grouping.cells(pair), each) for pair in pairs])
    believed = independent(grouping, margins)
    points = weights * (scores(plan, counts, grouping, believed, pairs) - noise_terms)
    for _ in range(picks):
        part = parts(columns, tree)
        joins = np.array([part[a] != part[b] for a, b in pairs])
        pick = ExponentialMechanism().choose(rate, points, joins[None, :], noise)
        tree.append(pairs[int(pick[0])])
    return sorted(tree)


def _noise_term(cells: int, loss: Loss) -> int:
    return round(float(CAUTION) * distortion([cells], loss))


def _fitted(grouping: Grouping, margins: Margins, tables: Sequence[MeasuredTable]) -> dict[Pair, Floats]:
    """For each edge the nearest table that is not negative and has the columns' combined counts."""
    combined = group_counts(grouping, margins, tables)
    return {
        table.pair: with_sums(
            np.where(grouping.nobody.get(table.pair, False), -np.inf, table.values),
            combined[table.pair[0]],
            combined[table.pair[1]],
        )
        for table in tables
    }


def _grown(
    tables: dict[Pair, Floats], grouping: Grouping, count: int, random: np.random.Generator
) -> CellRows:
    """(count, d) groups: the first column, then each neighbour in the tree, dealt afresh within its parent's groups.

    Two children of one column are independent given it, as in the model; values dealt in one order would not be.
    """
    rows = empty_rows(count, grouping.sizes)
    first = next(iter(tables))
    root = tables[first].sum(axis=1)[None, :] + 1e-9
    rows[:, first[0]] = dealt(np.zeros(count, dtype=np.int64), root, random)
    known, left = {first[0]}, list(tables)
    while left:
        pair = next(p for p in left if known & set(p))
        left.remove(pair)
        parent, child = pair if pair[0] in known else pair[::-1]
        possible = ~grouping.nobody.get(pair, np.zeros(tables[pair].shape, dtype=bool))
        table = tables[pair]
        if parent != pair[0]:
            table, possible = table.T, possible.T
        # A parent's value with which nothing can occur is mended in the rows.
        possible = possible | ~possible.any(axis=1, keepdims=True)
        shares = (table + 1e-9 * (1 + table.sum(axis=0))) * possible
        rows[:, child] = dealt(rows[:, parent], shares, random)
        known.add(child)
    return rows
