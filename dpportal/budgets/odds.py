"""What a budget means for one person, for whoever grants it: as a sentence, and as odds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from django.utils.translation import gettext as _

from dpportal.budgets.amounts import plain
from dpportal.budgets.models import Budget
from dpportal.budgets.risk import Risk, at_most_percent
from dpportal.datasets.models import Dataset
from dpportal.datasets.near_duplicates import SimilarDataset
from dpportal.platform.listed_names import in_a_row, joint
from dpportal.publications.statement import rounded_up
from mechanisms.accounting import SYMBOL, Definition, Neighbours, chance_factor, posterior, zcdp_loss_bound
from mechanisms.number_text import small_text

# The suspicion of the worked sentence.
PRIOR = 0.1
# From the first ε on a grant is warned of, from the second on it is confirmed a second time.
WARNED, CONFIRMED_TWICE = 3.0, 10.0
# Factors from here on have no decimals.
IN_FULL = 10
# The worked choices, in ε.
EPSILONS = (Decimal("0.1"), Decimal(1), Decimal(3))


@dataclass(frozen=True)
class Odds:
    """What all that is granted for some people means for one of them, once an amount is added.

    granted: before. amount: to be added; both of ε or ρ. delta_exponent: n in the δ = 10⁻ⁿ of ρ. elsewhere: granted
    for the same people in other datasets, of the same kind. aside: as ε, roughly, what is granted for them under other
    protections or in the other unit, which does not add up in a sentence, and weighs for them all the same. delta: of
    δ, granted for them and to be added: the chance with which all this may fail for one of the people.
    """

    definition: Definition
    granted: Decimal
    amount: Decimal
    delta_exponent: int
    replaced: bool = False
    of_others: Decimal = Decimal(0)
    aside: float = 0.0
    delta: Decimal = Decimal(0)

    @classmethod
    def of(
        cls, budget: Budget, amount: Decimal, others: Collection[Budget], delta: Decimal = Decimal(0)
    ) -> Odds:
        """For an account, which may be one that is not granted yet. delta: to be added, too.

        others: all accounts of the same people; those of other datasets of its protection and kind add up with it.
        """
        replaced = budget.protection.neighbours == Neighbours.REPLACE_ONE
        siblings = [each for each in others if each.pk != budget.pk]
        of_others = sum((each.total for each in siblings if _adds_up(each, budget)), Decimal(0))
        aside = sum(_epsilon_of(each) for each in siblings if not _adds_up(each, budget))
        definition, failing = Definition(budget.definition), budget.delta_total + delta
        failing += sum((each.delta_total for each in siblings if _adds_up(each, budget)), Decimal(0))
        exponent = budget.delta_exponent
        return cls(definition, budget.total, amount, exponent, replaced, of_others, aside, failing)

    @property
    def total(self) -> Decimal:
        return self.granted + self.of_others + self.amount

    @property
    def symbol(self) -> str:
        return SYMBOL[self.definition]

    @property
    def epsilon(self) -> float:
        """The privacy loss of all that is granted; of ρ what it exceeds with a chance of at most δ."""
        return _as_epsilon(self.definition, self.total, self.delta_exponent)

    @property
    def weight(self) -> float:
        """What warnings go by: all that anybody of these people is granted, roughly as ε."""
        return self.epsilon + self.aside

    @property
    def is_warned(self) -> bool:
        return self.weight >= WARNED

    @property
    def needs_second_confirmation(self) -> bool:
        return self.weight >= CONFIRMED_TWICE

    @property
    def notice(self) -> str:
        """The class of the notice that tells it."""
        return "bad" if self.needs_second_confirmation else "warn" if self.is_warned else "info"

    @property
    def kind(self) -> str:
        """The promise in a word or two, by the amounts from which a grant is warned of and confirmed twice."""
        if self.weight < 1:
            return _("Strong protection")
        if self.needs_second_confirmation:
            return _("Hardly any protection")
        return _("Usual protection") if self.weight < WARNED else _("Weak protection")

    @property
    def suspicion(self) -> str:
        """The odds: what a suspicion about one person can become at most, rounded up, by all that is published."""
        values = {
            "before": f"{100 * PRIOR:.0f} %",
            "after": at_most_percent(posterior(PRIOR, self.epsilon)),
        }
        if self.replaced:
            text = _("A %(before)s suspicion about a person's entries becomes at most %(after)s")
        else:
            text = _("A %(before)s suspicion that a person is in the data becomes at most %(after)s")
        return f"{text % values}{self._chance}{joint('.').strip()}"

    @property
    def _chance(self) -> str:
        """With what chance that may be wrong: at the δ of ρ, by that which is spent, or by either."""
        failing = Fraction(self.delta)
        if self.definition is not Definition.PURE:
            failing += Fraction(1, 10**self.delta_exponent)
        return _(", but for a chance of %(delta)s") % {"delta": small_text(failing)} if failing else ""

    @property
    def risk(self) -> Risk:
        """The same drawn. A ρ may pay for running counts."""
        neighbours = Neighbours.REPLACE_ONE if self.replaced else Neighbours.ADD_REMOVE
        amount, is_rho = float(self.total), self.definition is Definition.ZCDP
        exponent, delta = self.delta_exponent, self.delta
        return Risk(PRIOR, self.definition, amount, neighbours, exponent, whole_orders=is_rho, delta=delta)

    @property
    def meaning(self) -> str:
        """The same as a factor, of all that is granted for these people."""
        factor = chance_factor(self.epsilon)
        values = {
            "symbol": self.symbol,
            "total": plain(self.total),
            "factor": rounded_up(factor, 2 if factor < IN_FULL else 0),
        }
        if self.replaced:
            text = _(
                "%(symbol)s %(total)s in all: changing one person's entries makes any result at most %(factor)s times "
                "more or less likely."
            )
        else:
            text = _(
                "%(symbol)s %(total)s in all: including or leaving out one person makes any result at most %(factor)s "
                "times more or less likely."
            )
        return in_a_row((text % values, self._linked_datasets_text, self._aside_text))

    @property
    def _linked_datasets_text(self) -> str:
        if not self.of_others:
            return ""
        text = _("This counts %(symbol)s %(elsewhere)s granted for the same people in other datasets.")
        return text % {"symbol": self.symbol, "elsewhere": plain(self.of_others)}

    @property
    def _aside_text(self) -> str:
        if not self.aside:
            return ""
        text = _(
            "Other promises about the same people have budgets of about ε %(aside)s besides; whoever is in both is "
            "protected by neither number alone."
        )
        return text % {"aside": rounded_up(self.aside, 2)}


def _as_epsilon(definition: Definition, total: Decimal, delta_exponent: int) -> float:
    if definition is Definition.PURE or not total:
        return float(total)
    return zcdp_loss_bound(float(total), 10.0**-delta_exponent)


def _epsilon_of(budget: Budget) -> float:
    return _as_epsilon(Definition(budget.definition), budget.total, budget.delta_exponent)


def accounts_of_the_same_people(dataset: Dataset, similar: Collection[SimilarDataset]) -> list[Budget]:
    """All accounts of the same people: of it, of those bound together with it, and of similar ones."""
    alike = [each.pk for each in (*dataset.bound_together, *(kin.dataset for kin in similar))]
    return list(Budget.objects.filter(dataset__in=alike).select_related("dataset"))


def _adds_up(other: Budget, budget: Budget) -> bool:
    return other.definition == budget.definition and other.protection == budget.protection


def choices(budget: Budget, requested: Decimal | None, others: Collection[Budget]) -> list[Odds]:
    """The worked choices for an account, in its own unit: what was asked for first, then the fixed ones.

    others: as for `Odds.of`.
    """
    definition = Definition(budget.definition)
    fixed = [each if definition is Definition.PURE else _as_rho(each) for each in EPSILONS]
    amounts = [requested, *fixed] if requested and requested not in fixed else fixed
    return [Odds.of(budget, amount, others) for amount in amounts]


def _as_rho(epsilon: Decimal) -> Decimal:
    """ε²/2, the ρ that pure ε implies (Bun and Steinke 2016, Proposition 1.4)."""
    rho = Fraction(epsilon) ** 2 / 2
    return Decimal(rho.numerator) / Decimal(rho.denominator)
