"""Columns of many codes: what each code goes with in another column, so that codes which go alike are one group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechanisms.arrays import Integers
from mechanisms.domain import Categorical, Domain
from mechanisms.microdata.cell_rows import CellRows
from mechanisms.microdata.coarsening import MOST
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.known_values import UNKNOWN, is_declared
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.measuring import measured_tables, recorded_tables
from mechanisms.microdata.plan import MeasuredTable, MicrodataPlan
from mechanisms.microdata.scoring import independent, scores
from mechanisms.microdata.spending import score_law
from mechanisms.microdata.tables import Grouping, Pair
from mechanisms.noise import Noise

PARTNERS, CODES = "partners of codes", "tables of codes"
# Parts of the loss: of choosing the other column where none is declared, and of the tables.
PARTNERS_SHARE, CODES_SHARE = Fraction(1, 50), Fraction(2, 5)
# A column without order and with more values than groups has codes; another of up to so many values tells them apart.
MOST_PARTNER_VALUES = 64


def code_steps(domain: Domain, wishes: Wishes) -> Mapping[str, Fraction]:
    """The parts of the loss that codes take; none where there are none."""
    chosen = {PARTNERS: PARTNERS_SHARE} if _candidates(domain, wishes) else {}
    return {**chosen, CODES: CODES_SHARE} if chosen or _estimated(domain, wishes) else {}


@dataclass(frozen=True)
class CodeTables:
    """Noisy answers about codes.

    scores: (candidates,) int64. pairs: (column of codes, other column), declared dependencies first.
    tables: of each, over single cells, in the order of the columns.
    """

    scores: Integers
    pairs: tuple[tuple[int, int], ...]
    tables: tuple[MeasuredTable, ...]

    def record(self) -> list[np.ndarray]:
        """As a round of pairs is recorded: scores, pairs, tables."""
        return [self.scores, np.array(self.pairs, dtype=np.int64).ravel(), *(t.values for t in self.tables)]

    def companions(self, margins: Margins) -> dict[Pair, Integers]:
        """Of each table (code, other) the other column's cell that each code goes with, (codes,) int64."""
        result = dict[Pair, Integers]()
        for (code, other), table in zip(self.pairs, self.tables, strict=True):
            values = table.values if code < other else table.values.T
            shares = margins.shares(other)
            result[code, other] = likeliest(values, margins.counts[code], shares, table.variance)
        return result


NO_CODES = CodeTables(np.empty(0, dtype=np.int64), (), ())


def kinds_of(plan: MicrodataPlan, codes: CodeTables, margins: Margins) -> Mapping[int, Integers]:
    """For columns of codes what their rare codes are grouped by: the first companions of few enough cells.

    Codes of which nothing is known, as `Other`, are a kind of their own.
    """
    kinds = dict[int, Integers]()
    for (code, other), cells in _companions(plan, codes, margins).items():
        size = margins.counts[other].size
        if size <= MOST_PARTNER_VALUES:
            kinds.setdefault(code, np.where(cells == UNKNOWN, size, cells))
    return kinds


def measured_codes(plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise) -> CodeTables:
    """What codes go with, as far as it is paid for, and not publicly known.

    Which other column tells most of a column's codes is chosen by noisy L1 scores of all that could, at once
    (`spending.score_law`); then tables of single cells are measured (`spending.table_laws`). Scores and tables are paid
    for by a step each. The choice follows from noisy scores and the groups follow from noisy tables, so that what is
    asked later composes adaptively.
    """
    single = Grouping(tuple(np.arange(size) for size in plan.domain.shape))
    noisy, estimated = np.empty(0, dtype=np.int64), _estimated(plan.domain, plan.wishes)
    if candidates := _candidates(plan.domain, plan.wishes):
        pairs = [_sorted(candidate) for candidate in candidates]
        true = scores(plan, counts, single, independent(single, margins), pairs)
        noisy = true + noise.draw(score_law(len(pairs), plan.step(PARTNERS)), len(pairs))
        rising = [candidates[place] for place in noisy.argsort(kind="stable")]
        # Of each column's candidates the last stays.
        estimated += {code: (code, other) for code, other in rising}.values()
    tables = measured_tables(
        plan, counts, single, [_sorted(pair) for pair in estimated], plan.step(CODES), noise
    )
    return CodeTables(noisy, tuple(estimated), tuple(tables))


def recorded_codes(plan: MicrodataPlan, parts: Iterator[Integers]) -> CodeTables:
    """What `measured_codes` found, read from a record."""
    noisy, pairs = next(parts), next(parts).reshape(-1, 2)
    single = Grouping(tuple(np.arange(size) for size in plan.domain.shape))
    tables = recorded_tables(plan, single, np.sort(pairs, axis=1), plan.step(CODES), parts)
    return CodeTables(noisy, tuple((int(a), int(b)) for a, b in pairs), tuple(tables))


def likeliest(table: Integers, rows: np.ndarray, shares: np.ndarray, variance: float) -> Integers:
    """For each code the cell of the other column that all of its rows have, if all have one: (codes,) int64.

    table: (codes, cells) noisy counts. rows: (codes,) of each code. shares: (cells,) of the other column's rows, which
    say how likely a cell is before. Noise is taken to be normal: the logarithm of the odds of a cell is rows · count /
    variance, and so much more as it is likelier before.
    """
    before = np.log(np.maximum(shares, 1e-9))
    cells: Integers = (table * np.maximum(rows, 1)[:, None] / variance + before).argmax(axis=1)
    return cells.astype(np.int64)


def follow(rows: CellRows, plan: MicrodataPlan, codes: CodeTables, margins: Margins) -> None:
    """Give each row, in place, what its code goes with by a declared dependency; `Other` and missing ones stay."""
    companions = _companions(plan, codes, margins)
    for code, other in plan.wishes.dependencies(plan.domain):
        own = rows[:, code]
        follows = is_declared(plan.domain.attributes[code])[own]
        rows[:, other] = np.where(follows, companions[code, other][own], rows[:, other])


def _companions(plan: MicrodataPlan, codes: CodeTables, margins: Margins) -> dict[Pair, Integers]:
    """As `CodeTables.companions`, declared dependencies first, and with what is known of them."""
    known, estimated = plan.wishes.known_values(plan.domain), codes.companions(margins)
    declared = {
        pair: known.over(pair, estimated.get(pair, known.of(pair)))
        for pair in plan.wishes.dependencies(plan.domain)
    }
    return {**declared, **{pair: cells for pair, cells in estimated.items() if pair not in declared}}


def _estimated(domain: Domain, wishes: Wishes) -> list[Pair]:
    """The declared dependencies of which not everything is known."""
    known = wishes.known_values(domain)
    return [pair for pair in wishes.dependencies(domain) if not known.is_complete(pair)]


def _candidates(domain: Domain, wishes: Wishes) -> list[tuple[int, int]]:
    """Columns of codes of which no dependency is declared, each with all that could tell them apart."""
    declared = {code for code, _other in wishes.dependencies(domain)}
    codes = [
        j
        for j, attribute in enumerate(domain.attributes)
        if isinstance(attribute, Categorical) and attribute.size > MOST + 1 and j not in declared
    ]
    others = [
        j
        for j, attribute in enumerate(domain.attributes)
        if not attribute.ordered and attribute.size <= MOST_PARTNER_VALUES
    ]
    return [(code, other) for code in codes for other in others]


def _sorted(pair: Pair) -> Pair:
    return min(pair), max(pair)
