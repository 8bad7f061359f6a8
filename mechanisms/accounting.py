"""Privacy losses as exact values, their composition, and conversions between definitions.

Amounts are `Fraction`s built from decimal text, so ten losses of 0.1 are exactly 1. Conversions that
end in a real number (zCDP to (ε, δ)) are for display; nothing is charged from a float.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction

from scipy.optimize import minimize_scalar

from mechanisms.domain import Domain
from mechanisms.number_text import small_text, with_two_decimals


class Neighbours(StrEnum):
    """Which two tables differential privacy makes hard to tell apart."""

    ADD_REMOVE = "add-remove"
    REPLACE_ONE = "replace-one"


class Definition(StrEnum):
    """The definition in which a loss is stated."""

    PURE = "pure"
    ZCDP = "zcdp"


SYMBOL = {Definition.PURE: "ε", Definition.ZCDP: "ρ"}


@dataclass(frozen=True)
class PrivacyUnit:
    """Whose presence is hidden: one person, who has at most `max_rows` rows of the table.

    may_be_absent: of a replaced person with one row, whether that row may be missing from the count, before or after:
        rows are told apart by a person column, or some are left out. Else everybody has exactly one row.
    """

    neighbours: Neighbours = Neighbours.ADD_REMOVE
    max_rows: int = 1
    may_be_absent: bool = False

    def __post_init__(self) -> None:
        if self.max_rows < 1:
            raise ValueError(f"max_rows must be at least 1, got {self.max_rows}")

    @property
    def total_public(self) -> bool:
        """Whether neighbours have the same number of counted rows: one row becomes one other, and none is left out."""
        return self.neighbours is Neighbours.REPLACE_ONE and self.max_rows == 1 and not self.may_be_absent

    @property
    def counts_rows(self) -> bool:
        """Whether counts are of rows, since a person may have several; else they are of people."""
        return self.max_rows > 1

    def allowing_absence(self, possible: bool) -> PrivacyUnit:
        """The unit where it is possible that a person has no counted row; only a public total changes by that."""
        return replace(self, may_be_absent=True) if possible and self.total_public else self


@dataclass(frozen=True)
class Loss:
    """A privacy loss: `amount` of ε (pure) or ρ (zCDP) for one release, with its neighbouring relation.

    delta: with what chance, at most, the promise of ε or ρ fails: (ε, δ)-DP, or δ-approximate ρ-zCDP (Bun and Steinke
    2016, Definition 8.1). Both parts add up. Mechanisms that spend none leave it at 0.
    Raises TypeError unless both are Fractions, since noise would have the scale of a rounded number; ValueError for
    an amount that is not positive, and for a delta that is no probability.
    """

    definition: Definition
    amount: Fraction
    unit: PrivacyUnit = field(default_factory=PrivacyUnit)
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for part in (self.amount, self.delta):
            if not isinstance(part, Fraction):
                raise TypeError(f"a privacy loss must be a Fraction, got {part!r}; Fraction('0.3') is exact")
        if self.amount <= 0:
            raise ValueError(f"a privacy loss must be positive, got {self.symbol} = {self.amount}")
        if not 0 <= self.delta <= 1:
            raise ValueError(f"a delta lies in 0..1, got {self.delta}")

    @property
    def symbol(self) -> str:
        return SYMBOL[self.definition]

    def __str__(self) -> str:
        """Such as ε = 0.50, or ε = 0.25, δ = 10⁻⁶."""
        delta = f", δ = {small_text(self.delta)}" if self.delta else ""
        return f"{self.symbol} = {with_two_decimals(plainly(self.amount))}{delta}"

    def for_domain(self, domain: Domain) -> Loss:
        """The loss of counts over a domain: where it leaves rows out, a person may have no counted row."""
        return replace(self, unit=self.unit.allowing_absence(domain.leaves_out))

    def to_json(self) -> dict[str, object]:
        absence = {"may_be_absent": True} if self.unit.may_be_absent else {}
        return {
            "definition": self.definition.value,
            "amount": str(self.amount),
            "neighbours": self.unit.neighbours.value,
            "max_rows": self.unit.max_rows,
            **absence,
            **({"delta": str(self.delta)} if self.delta else {}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, object]) -> Loss:
        unit = PrivacyUnit(
            Neighbours(str(value["neighbours"])),
            int(str(value["max_rows"])),
            value.get("may_be_absent") is True,
        )
        delta = Fraction(str(value.get("delta", 0)))
        return cls(Definition(str(value["definition"])), Fraction(str(value["amount"])), unit, delta)


def plainly(number: Fraction | float, digits: int = 9) -> str:
    """A number rounded to so many digits as people write it, without an exponent."""
    return f"{Decimal(f'{float(number):.{digits}g}').normalize():f}"


def group_delta(loss: Loss, steps: int) -> Fraction:
    """The δ of tables that are so many neighbouring steps apart, whose ε is `steps` times as large, or ρ steps² times.

    At most δ (e^(kε) - 1)/(e^ε - 1) for k steps of (ε, δ)-DP (Dwork and Roth 2014, Theorem 2.2, for δ), and never more
    than 1. What spends δ under ρ is made of (ε', δ')-DP parts with ε'²/2 <= ρ, so that ε = √(2ρ) bounds each of them.
    For display, rounded up.
    """
    if steps == 1 or not loss.delta:
        return loss.delta
    amount = float(loss.amount)
    epsilon = amount if loss.definition is Definition.PURE else math.sqrt(2 * amount)
    try:
        grown = float(loss.delta) * math.expm1(steps * epsilon) / math.expm1(epsilon)
    except OverflowError:
        return Fraction(1)
    return min(Fraction(1), Fraction(f"{grown * 1.005:.2e}"))


def pure_within_zcdp(rho: Fraction, digits: int = 9) -> Fraction:
    """The largest decimal ε of `digits` places with ε²/2 <= ρ, decided in integers.

    An ε-DP mechanism is ε²/2-zCDP (Bun and Steinke 2016, Proposition 1.4). The smaller constant
    ε + e^-ε - 1 belongs to the *continuous* Laplace mechanism; discrete Laplace noise of scale 1/ε on a
    single count has Kullback-Leibler loss ε·tanh(ε/2), which is larger, so it must not be used here.
    """
    if rho <= 0:
        raise ValueError(f"rho must be positive, got {rho}")
    grid = 10**digits
    epsilon = Fraction(math.isqrt(2 * rho.numerator * grid**2 // rho.denominator), grid)
    if epsilon == 0:
        raise ValueError(f"rho = {rho} is too small for a pure loss of {digits} decimal places")
    return epsilon


def zcdp_to_epsilon(rho: float, delta: float, *, whole_orders: bool = False) -> float:
    """The ε of the (ε, δ)-DP that ρ-zCDP implies; for display.

    whole_orders: whether Rényi divergences are known to be at most αρ for whole α >= 2 alone, as of some running
        counts.
    Source: Canonne, Kamath, Steinke 2020, Proposition 12: the least over α > 1 of
    αρ + ln(1/(αδ))/(α-1) + ln(1-1/α).
    """
    if not (rho > 0 and 0 < delta < 1):
        raise ValueError(f"needs rho > 0 and 0 < delta < 1, got rho={rho}, delta={delta}")

    def epsilon(order: float) -> float:
        return order * rho - math.log(order * delta) / (order - 1) + math.log1p(-1 / order)

    best = minimize_scalar(
        lambda log_order: epsilon(1 + math.exp(log_order)),
        bounds=(-14, 14),
        method="bounded",
        options={"xatol": 1e-10},
    )
    if not whole_orders:
        return max(0.0, float(best.fun))
    below = max(2, math.floor(1 + math.exp(best.x)))
    return max(0.0, min(epsilon(below), epsilon(below + 1)))


def chance_factor(epsilon: float) -> float:
    """By how much a person's inclusion can change the chance of any result: e^ε; infinity beyond all floats."""
    try:
        return math.exp(epsilon)
    except OverflowError:
        return math.inf


def zcdp_loss_bound(rho: float, delta: float) -> float:
    """What the privacy loss of a ρ-zCDP mechanism exceeds with a chance of at most δ.

    More than the ε of `zcdp_to_epsilon`, as (ε, δ)-DP alone does not bound the loss so; a reader's suspicion follows
    the loss. By whole orders, which hold for running counts, too. Raises ValueError unless rho > 0 and 0 < delta < 1.
    Source: Bun and Steinke 2016, the proof of Proposition 1.3: Markov's inequality for e^((α−1)Z), whose mean is at
    most e^((α−1)αρ); the least over whole α >= 2 of αρ + ln(1/δ)/(α−1).
    """
    if not (rho > 0 and 0 < delta < 1):
        raise ValueError(f"needs rho > 0 and 0 < delta < 1, got rho={rho}, delta={delta}")
    surprise = math.log(1 / delta)
    below = max(2, math.floor(1 + math.sqrt(surprise / rho)))
    return min(order * rho + surprise / (order - 1) for order in (below, below + 1))


def posterior(prior: float, epsilon: float) -> float:
    """The most that a suspicion can become by a result whose privacy loss is at most ε: p e^ε / (p e^ε + 1 − p).

    prior: the chance p that somebody gives a fact about one person before, strictly between 0 and 1.
    Source: Bayes' rule with a likelihood ratio of e^ε; written with e^−ε, which does not overflow.
    """
    return prior / (prior + (1 - prior) * math.exp(-epsilon))
