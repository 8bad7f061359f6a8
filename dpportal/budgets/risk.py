"""A privacy cost as one person's risk: what a suspicion becomes, and how often the best attack is right."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np
from django.utils.translation import gettext as _
from scipy.special import expit

from dpportal.charts.screens import for_screens
from dpportal.charts.trade_off import trade_off_figure
from dpportal.platform.json_types import Json
from mechanisms.accounting import Definition, Loss, Neighbours, group_delta, posterior, zcdp_loss_bound
from mechanisms.arrays import Floats
from mechanisms.number_text import small_text
from mechanisms.trade_off import hits_pure, hits_zcdp

# False alarms, in percent, at which the table says how many hits there are.
WORKED = (1, 5, 10, 50)
# Where the curve is drawn: close together at its ends, where it bends.
ALARMS = np.sin(np.linspace(0, np.pi / 2, 49)) ** 2
# Of a share near certainty.
MOST_DIGITS = 4


@dataclass(frozen=True)
class Risk:
    """prior: what somebody thinks how likely a fact about one person is, strictly between 0 and 1.

    amount: of ε or ρ. delta_exponent: n in the δ = 10⁻ⁿ of ρ. whole_orders: whether a ρ may pay for running counts,
    whose loss is bounded in whole Rényi orders alone. delta: of δ, spent besides.
    """

    prior: float
    definition: Definition
    amount: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    delta_exponent: int = 6
    whole_orders: bool = False
    delta: Decimal = Decimal(0)

    @property
    def presence(self) -> str:
        """What a suspicion that the person is in the data becomes at most; empty where everybody knows that."""
        if self.neighbours is Neighbours.REPLACE_ONE:
            return ""
        return self._after(1)

    @property
    def entries(self) -> str:
        """The same of a suspicion about what is recorded of the person.

        Who is added or removed comes to another record in two steps: 2ε, and 4ρ by group privacy of zCDP, which needs
        all Rényi orders (Bun and Steinke 2016, Proposition 1.9). Empty where nothing can be stated.
        """
        if self.neighbours is Neighbours.REPLACE_ONE:
            return self._after(1)
        return "" if self.whole_orders and not self._is_pure else self._after(2)

    @property
    def before(self) -> str:
        return f"{100 * self.prior:.12g} %"  # as it was typed, without what halves and quarters cannot say

    @property
    def but_for(self) -> str:
        """The chance with which even that may be wrong; empty of ε without a δ, which holds always."""
        failing = self._failing(2 if self.presence and self.entries else 1)
        return small_text(failing) if failing else ""

    @property
    def pair(self) -> str:
        """The privacy loss as others publish theirs: ε, and the δ at which it holds, if there is one."""
        failing = self._failing(1)
        return f"{self.epsilon:.3g}, δ = {small_text(failing)}" if failing else f"{self.epsilon:.3g}"

    @property
    def epsilon(self) -> float:
        """The privacy loss; of ρ what it exceeds with a chance of at most δ."""
        return self._loss(1)

    @property
    def rates(self) -> list[tuple[str, str]]:
        """At some rates of false alarms the most hits, in percent."""
        hits = self.hits(np.array(WORKED) / 100)
        return [(f"{alarms} %", at_most_percent(most)) for alarms, most in zip(WORKED, hits, strict=True)]

    @property
    def figure(self) -> Json:
        """The whole curve, drawn."""
        # Against ε the curve is two straight lines that meet here.
        bend = [expit(-self.amount)] if self._is_pure else []
        alarms = np.sort(np.append(ALARMS, bend))
        figure: Json = asdict(trade_off_figure(alarms, self.hits(alarms), self.neighbours))
        return {**figure, "drawing": for_screens(figure["json"])}

    def hits(self, false_alarms: Floats) -> Floats:
        """The most hits at these rates of false alarms, of all attacks on any mechanism of this loss.

        Where a δ is spent, the laws are mixtures of δ anything and 1 - δ of this loss (Kairouz, Oh, Viswanath 2015).
        """
        failing = float(self.delta)
        within = np.minimum(false_alarms / (1 - failing), 1.0)
        return failing + (1 - failing) * self._hits_within(within)

    def _hits_within(self, false_alarms: Floats) -> Floats:
        if self._is_pure:
            return hits_pure(self.amount, false_alarms)
        return hits_zcdp(self.amount, false_alarms, whole_orders=self.whole_orders)

    @property
    def _is_pure(self) -> bool:
        return self.definition is Definition.PURE

    def _failing(self, steps: int) -> Fraction:
        """By the δ that is spent, which grows from step to step, and by that at which ρ is read."""
        spent = group_delta(Loss(self.definition, Fraction(self.amount), delta=Fraction(self.delta)), steps)
        return spent if self._is_pure else spent + Fraction(1, 10**self.delta_exponent)

    def _loss(self, steps: int) -> float:
        if self._is_pure:
            return steps * self.amount
        return zcdp_loss_bound(steps**2 * self.amount, 10.0**-self.delta_exponent)

    def _after(self, steps: int) -> str:
        return at_most_percent(posterior(self.prior, self._loss(steps)))


def at_most_percent(share: float) -> str:
    """A share in percent, rounded up to whole ones; near certainty to as many digits as show that it is none."""
    for digits in range(MOST_DIGITS + 1):
        percent = np.ceil(100 * share * 10**digits - 1e-9) / 10**digits
        if percent < 100:
            return f"{percent:.{digits}f} %"
    return _("nearly 100 %")
