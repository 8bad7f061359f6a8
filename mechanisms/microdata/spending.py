"""How the loss of one stage is shared by the tables that it measures, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from mechanisms.accounting import Definition, Loss, pure_within_zcdp
from mechanisms.calibration import count_law
from mechanisms.histogram.spending import share_of
from mechanisms.noise import NoiseLaw
from mechanisms.sensitivity import Sensitivity, histogram_sensitivity

# Weights are rounded to multiples of this share of the smallest.
_GRID = 100


def table_shares(cells: Sequence[int], definition: Definition) -> list[Fraction]:
    """Shares that sum to 1 and make Σ cells · standard error least: of ρ ∝ cells^(2/3), of ε ∝ cells^(1/2)."""
    weights = [_weight(c, definition) for c in cells]
    total = sum(weights)
    return [Fraction(w, total) for w in weights]


def _weight(cells: int, definition: Definition) -> int:
    power = 1 / 2 if definition is Definition.PURE else 2 / 3
    return max(1, round(_GRID * float(cells**power)))


def table_laws(cells: Sequence[int], loss: Loss) -> list[NoiseLaw]:
    """The noise of each of some tables of disjoint cells that together cost `loss`.

    A person moves every table by what `histogram_sensitivity` says; the shares add up to 1 (sequential composition).
    Tables of equal size share one law: a law remembers its weights, which of thousands of tables would fill memory.
    """
    moved, shares = histogram_sensitivity(loss.unit), table_shares(cells, loss.definition)
    laws = {share: count_law(share_of(loss, share), moved) for share in dict.fromkeys(shares)}
    return [laws[share] for share in shares]


def check_tables(tables: int, cells: int, loss: Loss) -> None:
    """Raises PlanError if up to so many tables of up to so many cells each could need noise beyond what can be drawn.

    The most noise is that of one cell beside tables that are as large as can be.
    """
    alone, other = (_weight(size, loss.definition) for size in (1, cells))
    least = Fraction(alone, alone + (tables - 1) * other)
    count_law(share_of(loss, least), histogram_sensitivity(loss.unit))


def score_law(scores: int, loss: Loss) -> NoiseLaw:
    """The noise of so many L1 scores at once, which together cost `loss`.

    A score ‖C - Ĉ‖₁ moves by at most ‖ΔC‖₁ <= Δ₁ of a table's counts, Ĉ being public; so all of them move by at most
    scores · Δ₁ in L1 and scores · Δ₁² in squared L2.
    """
    moved = histogram_sensitivity(loss.unit).l1
    return count_law(loss, Sensitivity(scores * moved, scores * moved**2))


def pick_rate(loss: Loss, picks: int, sensitivity: int | None = None) -> Fraction:
    """What a point of a score is worth in the exponent of each of so many picks that together cost `loss`, ε/(2Δ).

    sensitivity: Δ; None: of an L1 score. A pick by the exponential mechanism or permute-and-flip costs ε; under zCDP,
    by the exponential mechanism, ε²/8.
    """
    each = loss.amount / picks
    epsilon = each if loss.definition is Definition.PURE else pure_within_zcdp(4 * each)
    return epsilon / (2 * (histogram_sensitivity(loss.unit).l1 if sensitivity is None else sensitivity))
