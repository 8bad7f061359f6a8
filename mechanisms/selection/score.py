"""Questions: how integer counts become one integer score per candidate, and how far a person can move it.

A score is a value without data. Candidates are declared; higher scores are better.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Neighbours, PrivacyUnit
from mechanisms.arrays import Integers
from mechanisms.domain import Attribute
from mechanisms.json_types import JsonObject
from mechanisms.protocol import PlanError
from mechanisms.sensitivity import Sensitivity, unit_sensitivity

MAX_CANDIDATES = 10_000
MAX_DENOMINATOR = 1000


@dataclass(frozen=True)
class ScoreBound:
    """What one person can do to the scores.

    sensitivity: largest change of any one score, in points.
    monotone: whether between any two neighbours no score rises while another falls.
    """

    sensitivity: Fraction
    monotone: bool

    @classmethod
    def of(cls, unit: PrivacyUnit, entered: int, replaced: int, *, one_way: bool) -> ScoreBound:
        """From how many points one row that enters or leaves moves a score, and one that changes its value.

        one_way: whether rows that only enter, or only leave, move all scores in the same direction.
        """
        column, apart = (Sensitivity(points, points**2) for points in (entered, replaced))
        moved = unit_sensitivity(unit, column, apart).l1
        return cls(Fraction(moved), one_way and unit.neighbours is Neighbours.ADD_REMOVE)


@dataclass(frozen=True)
class Score:
    """A question with its candidates' labels; a subclass says how counts answer it.

    proof: one sentence for the sensitivity. points_per_row: what one row more or less is worth.
    """

    candidates: tuple[str, ...]
    kind: ClassVar[str] = ""
    title: ClassVar[str] = ""
    proof: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not 2 <= len(self.candidates) <= MAX_CANDIDATES:
            raise PlanError(
                "A choice needs 2 to {max_candidates:,} candidates; this one has {number:,}. Choose more or "
                "fewer columns, or declare more or fewer values of the column.",
                max_candidates=MAX_CANDIDATES,
                number=len(self.candidates),
            )
        if len(set(self.candidates)) != len(self.candidates):
            raise PlanError("A candidate is declared twice; list each candidate once.")

    @property
    def cells(self) -> int:
        """How many counts the score needs."""
        return len(self.candidates)

    @property
    def points_per_row(self) -> int:
        return 1

    @property
    def question(self) -> str:
        """The question with everything that an answer is not understood without."""
        return self.title

    def bound(self, unit: PrivacyUnit) -> ScoreBound:
        """How far one person can move the scores."""
        raise NotImplementedError

    def scores(self, counts: np.ndarray) -> np.ndarray:
        """(cells,) integer counts to (candidates,) int64 scores. Raises ValueError for another shape or type."""
        if counts.shape != (self.cells,):
            raise ValueError(f"counts must have shape {(self.cells,)}, got {counts.shape}")
        if not np.issubdtype(counts.dtype, np.integer):
            raise ValueError(f"counts must be integers, got {counts.dtype}")
        return self._scores(counts.astype(np.int64))

    def _scores(self, counts: Integers) -> Integers:
        raise NotImplementedError

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "candidates": list(self.candidates)}


class _CountOfEach(Score):
    """One count per candidate; one row changes each of them by at most 1.

    worth: of one row in points, 1 or -1.
    """

    worth: ClassVar[int] = 1

    def bound(self, unit: PrivacyUnit) -> ScoreBound:
        """m points, also where a row leaves one count for another; monotone where rows only enter, or only leave."""
        return ScoreBound.of(unit, 1, 1, one_way=True)

    def _scores(self, counts: Integers) -> Integers:
        return self.worth * counts


@dataclass(frozen=True)
class MostCommonValue(_CountOfEach):
    """Score: the number of rows with the value. counts: (candidates,)."""

    kind: ClassVar[str] = "most-common-value"
    title: ClassVar[str] = "Most common value"
    proof: ClassVar[str] = (
        "A person's rows are added to the counts of their values or, with the person, taken away, so a count "
        "changes by at most the person's number of rows; where no other person comes instead, all counts in the same "
        "direction."
    )

    @classmethod
    def of(cls, attribute: Attribute) -> MostCommonValue:
        """The column's cells as candidates, the cells for other and missing values included."""
        return cls(tuple(attribute.labels()))


@dataclass(frozen=True)
class BestOption(_CountOfEach):
    """Score: the number of rows in favour of the option; a row may favour any number of options."""

    kind: ClassVar[str] = "best-option"
    title: ClassVar[str] = "Best of these options"
    proof: ClassVar[str] = (
        "A row adds 0 or 1 to the total of every option, so a person changes each total by at most the "
        "person's number of rows; where no other person comes instead, all totals in the same direction."
    )


@dataclass(frozen=True)
class FewestConflicts(_CountOfEach):
    """Score: minus the number of rows that have a conflict; a row may conflict with every candidate."""

    kind: ClassVar[str] = "fewest-conflicts"
    title: ClassVar[str] = "Fewest conflicts"
    proof: ClassVar[str] = (
        "A row adds 0 or 1 conflict to every candidate, so a person changes each score by at most the "
        "person's number of rows; where no other person comes instead, all scores in the same direction."
    )
    worth: ClassVar[int] = -1


@dataclass(frozen=True)
class Quantile(Score):
    """Score: how many rows deep the level-quantile lies inside the candidate, times the level's denominator.

    A candidate is a span of cells (first, beyond the last), an empty span being a cut between two cells. With
    `below`, `inside` and `above` counting rows, and level = a/b, the score is
    min(a·(inside + above) - (b-a)·below, (b-a)·(below + inside) - a·above); for a cut it is
    -|(b-a)·below - a·above|. It is at least 0 exactly if the candidate holds the quantile, and otherwise minus how far
    off it is. To score 0 for whatever holds it costs the same and leads by less; half of the rows inside as below
    (mid-ranks) leaves a full candidate behind an empty one beside it: `tests.benchmarks.quantiles` compares them.
    column_cells: the number of counts; those outside every span (of missing values) are never read.
    ordered_cells: the cells that have an order, the first of the column's.
    """

    spans: tuple[tuple[int, int], ...] = ()
    ordered_cells: int = 0
    column_cells: int = 0
    level: Fraction = Fraction(1, 2)
    kind: ClassVar[str] = "quantile"
    title: ClassVar[str] = "Median or quantile"
    proof: ClassVar[str] = (
        "With level a/b a row below a candidate moves the two depths in its score by b - a each, one above "
        "by a, one inside by at most the larger; a row that moves from one side to the other by b; a minimum "
        "moves no further than what it is taken over."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.level < 1 or self.level.denominator > MAX_DENOMINATOR:
            raise PlanError("Choose a quantile between 0 and 1, with at most three decimal places.")
        if len(self.spans) != len(self.candidates):
            raise PlanError("Every candidate needs its range of cells.")
        fitting = all(0 <= first <= beyond <= self.ordered_cells for first, beyond in self.spans)
        if not fitting or self.ordered_cells > self.column_cells:
            raise PlanError("A candidate lies outside the column's declared limits.")

    @classmethod
    def of(cls, attribute: Attribute, level: Fraction) -> Quantile:
        """Each bin of an ordered column a candidate; rows with missing values do not count."""
        if not attribute.ordered:
            raise PlanError(
                "Column {name} has no order; choose a number or a date for a quantile.", name=attribute.name
            )
        size = attribute.regular_size
        spans = tuple((cell, cell + 1) for cell in range(size))
        return cls(tuple(attribute.regular_labels()), spans, size, attribute.size, level)

    @property
    def cells(self) -> int:
        return self.column_cells

    @property
    def points_per_row(self) -> int:
        return self.level.denominator

    @property
    def question(self) -> str:
        if self.level == Fraction(1, 2):
            return "Median"
        return f"Quantile {float(self.level):g}: the value that {float(100 * self.level):g} % lie below"

    def bound(self, unit: PrivacyUnit) -> ScoreBound:
        """m·max(a, b-a) points where rows enter or leave, m·b where they move; never monotone."""
        a, b = self.level.numerator, self.level.denominator
        return ScoreBound.of(unit, max(a, b - a), b, one_way=False)

    def _scores(self, counts: Integers) -> Integers:
        a, b = self.level.numerator, self.level.denominator
        before = np.concatenate([[0], np.cumsum(counts[: self.ordered_cells])])
        first, beyond = np.array(self.spans, dtype=np.int64).T
        below, inside, above = before[first], before[beyond] - before[first], before[-1] - before[beyond]
        above_start = a * (inside + above) - (b - a) * below
        below_end = (b - a) * (below + inside) - a * above
        scores: Integers = np.minimum(above_start, below_end)
        return scores

    def to_json(self) -> dict[str, object]:
        extra = {"ordered_cells": self.ordered_cells, "column_cells": self.column_cells}
        return {
            **super().to_json(),
            "spans": [list(span) for span in self.spans],
            **extra,
            "level": str(self.level),
        }


KINDS: dict[str, type[Score]] = {c.kind: c for c in (MostCommonValue, BestOption, FewestConflicts, Quantile)}


def score_from_json(value: JsonObject) -> Score:
    """Build a score from what its `to_json` wrote."""
    fields = {key: v for key, v in value.items() if key != "kind"}
    fields["candidates"] = tuple(fields["candidates"])
    if value["kind"] == Quantile.kind:
        fields["spans"] = tuple((int(first), int(beyond)) for first, beyond in fields["spans"])
        fields["level"] = Fraction(fields["level"])
    return KINDS[value["kind"]](**fields)
