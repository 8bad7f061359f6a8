"""Private feature selection: the columns that tell most about a target are kept before pairs are measured."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Integers
from mechanisms.domain import Domain
from mechanisms.microdata.coarsening import group
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.information import information, information_sensitivity
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.scoring import independent, scores
from mechanisms.microdata.spending import pick_rate
from mechanisms.microdata.tables import Grouping, Pair
from mechanisms.noise import Noise
from mechanisms.protocol import PlanError
from mechanisms.selection import ExponentialMechanism, PermuteAndFlip, Selection

FEATURES = "choice of columns"
# What columns are chosen by: the distance of their table with the target from independence, or mutual information.
DISTANCE, INFORMATION = CRITERIA = ("distance", "information")
SHARE = Fraction(1, 10)
COARSENESS = 0.5


@dataclass(frozen=True)
class ColumnChoice:
    """Which columns rows are made of, where they are chosen privately.

    keep: so many that tell most about the target; None: all. criterion: what they are chosen by, of `CRITERIA`.
    """

    keep: int | None = None
    criterion: str = DISTANCE

    def check(self, domain: Domain, wishes: Wishes, total: int | None) -> None:
        """Raises PlanError if columns cannot be chosen so."""
        if self.keep is not None:
            check_choice(domain, wishes, self.keep)
            check_criterion(self.criterion, total)


ALL_COLUMNS = ColumnChoice()


def check_choice(domain: Domain, wishes: Wishes, keep: int) -> None:
    """Raises PlanError unless so many columns can be kept for what they tell about a target."""
    if not wishes.target:
        raise PlanError("Columns are chosen by what they tell about a target column. Choose the target.")
    least, columns = max(2, len(_required_columns(domain, wishes))), len(domain.shape)
    if not least <= keep <= columns:
        raise PlanError(
            "Keep between {least} and {columns} columns: the target and the columns of required pairs and "
            "of dependencies are always kept.",
            least=least,
            columns=columns,
        )


def check_criterion(criterion: str, total: int | None) -> None:
    """Raises PlanError for mutual information where the number of rows is not public."""
    if criterion == INFORMATION and (total is None or total < 2):
        raise PlanError(
            "How far one person moves mutual information follows from the number of rows, which is not public here. "
            "Choose columns by the distance from independence."
        )


def _required_columns(domain: Domain, wishes: Wishes) -> list[int]:
    """The places of the target and of the columns of required pairs and of declared dependencies."""
    names = {wishes.target, *(name for pair in (*wishes.required, *wishes.follows) for name in pair)}
    return [place for place, name in enumerate(domain.names) if name in names]


def picks_left(domain: Domain, wishes: Wishes, keep: int) -> int:
    """How many columns are chosen beside those always kept; 0 also where all of them are kept."""
    return max(0, keep - len(_required_columns(domain, wishes))) if keep < len(domain.shape) else 0


def fewest_selected(domain: Domain, wishes: Wishes, keep: int, places: Collection[int]) -> int:
    """How many of the columns at some places are kept, whichever are picked."""
    always = set(_required_columns(domain, wishes))
    others = set(range(len(domain.shape))) - always - set(places)
    return len(always & set(places)) + max(0, keep - len(always) - len(others))


def selected_columns(plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise) -> list[int]:
    """The places of `plan.keep` columns, in order: those always kept, and the picks of largest score.

    A column's score is that of its table with the target, over groups of cells: ‖C - round(Ĉ)‖₁, Ĉ what independence
    believes from noisy counts of single columns, which moves by at most Δ₁ of a table's counts; or mutual information,
    which moves by `information_sensitivity` of the public number of rows. Picked by permute-and-flip under pure ε, by
    the exponential mechanism under zCDP.
    """
    selected, target = (
        _required_columns(plan.domain, plan.wishes),
        plan.domain.names.index(plan.wishes.target),
    )
    assert plan.keep is not None
    if plan.keep == len(plan.domain.shape):
        return list(range(plan.keep))
    picks = picks_left(plan.domain, plan.wishes, plan.keep)
    others = [place for place in range(len(plan.domain.shape)) if place not in selected]
    if not picks:
        return selected
    grouping = group(plan.domain.attributes, margins, plan.pair_deviation, COARSENESS)
    pairs: list[Pair] = [(min(target, place), max(target, place)) for place in others]
    points, sensitivity = _points(plan, counts, grouping, margins, pairs)
    pure = plan.loss.definition is Definition.PURE
    chooser: Selection = PermuteAndFlip() if pure else ExponentialMechanism()
    rate = pick_rate(plan.step(FEATURES), picks, sensitivity)
    left = np.ones((1, len(others)), dtype=bool)
    for _ in range(picks):
        pick = int(chooser.choose(rate, points, left, noise)[0])
        left[0, pick] = False
        selected.append(others[pick])
    return sorted(selected)


def _points(
    plan: MicrodataPlan, counts: Integers, grouping: Grouping, margins: Margins, pairs: Sequence[Pair]
) -> tuple[Integers, int | None]:
    """The score of each pair, and how far one person moves it where that is not Δ₁."""
    if plan.criterion == DISTANCE:
        return scores(plan, counts, grouping, independent(grouping, margins), pairs), None
    assert plan.total is not None
    tables = [grouping.table(plan.tables.table(counts, pair), pair) for pair in pairs]
    binary = all(min(table.shape) <= 2 for table in tables)
    points = np.array([information(table) for table in tables], dtype=np.int64)
    return points, information_sensitivity(plan.total, binary=binary)
