"""What a cost means, in words, and what others have chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import attrgetter

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.publications.statement import epsilon_delta_text, rounded_up
from mechanisms.accounting import Definition, Loss, Neighbours, chance_factor, zcdp_to_epsilon

# Above it a promise is called weak.
WEAK = 5.0


# The ends of the scale on which choices are shown, as powers of ten of ε.
LEAST_POWER, MOST_POWER = -2, 2


@dataclass(frozen=True)
class Choice:
    """A published choice. epsilon: as published; unit: of what; source: where it was published; value: the ε alone."""

    who: object
    epsilon: str
    unit: object
    source: object
    address: str
    value: float = 0.0
    is_own: bool = False

    @property
    def reach(self) -> float:
        """How far it reaches on a logarithmic scale, in percent of its length."""
        if self.value <= 0:
            return 0.0
        power = min(max(math.log10(self.value), LEAST_POWER), MOST_POWER)
        return round(100 * (power - LEAST_POWER) / (MOST_POWER - LEAST_POWER), 1)


CHOICES = (
    Choice(
        gettext_lazy("Wikimedia, page views by country"),
        "1",
        gettext_lazy("a person's views of a day"),
        gettext_lazy("Adeleye and others 2023"),
        "https://arxiv.org/abs/2308.16298",
        1.0,
    ),
    Choice(
        gettext_lazy("Google, mobility reports in the pandemic"),
        "2.64",
        gettext_lazy("a person's day"),
        gettext_lazy("Aktay and others 2020"),
        "https://arxiv.org/abs/2004.04145",
        2.64,
    ),
    Choice(
        gettext_lazy("Apple, emoji that are typed on telephones"),
        "4",
        gettext_lazy("a telephone's one contribution of a day"),
        "Apple, Differential Privacy Technical Overview",
        "https://www.apple.com/privacy/docs/Differential_Privacy_Overview.pdf",
        4.0,
    ),
    Choice(
        gettext_lazy("US Census Bureau, redistricting data of 2020"),
        "17.14, δ = 10⁻¹⁰",
        gettext_lazy("a person, in all tables of people together"),
        gettext_lazy("Abowd and others 2022"),
        "https://doi.org/10.1162/99608f92.529e3cb9",
        17.14,
    ),
)


def scale(epsilon: float, pair: str) -> list[Choice]:
    """What others have chosen and a cost of one's own, the smallest first. pair: its ε, and its δ if it has one."""
    own = Choice(_("Yours"), pair, "", "", "", epsilon, is_own=True)
    return sorted([*CHOICES, own], key=attrgetter("value"))


def meaning(loss: Loss, delta: float, *, whole_orders: bool = False) -> str:
    """How much the chance of anything may depend on one person, and a remark where that is much.

    whole_orders: whether a zCDP loss is read at integer orders alone, as the plan's own statement reads it.
    """
    pure = loss.definition is Definition.PURE
    epsilon = (
        float(loss.amount) if pure else zcdp_to_epsilon(float(loss.amount), delta, whole_orders=whole_orders)
    )
    values = {
        "loss": str(loss),
        "pair": epsilon_delta_text(loss, delta, whole_orders=whole_orders),
        "factor": rounded_up(chance_factor(epsilon), 2),
        # Where rows are replaced nobody is left out: how many there are may be public.
        "change": _("changing one person's entries")
        if loss.unit.neighbours is Neighbours.REPLACE_ONE
        else _("including or leaving out one person"),
    }
    if pure:
        text = _("%(loss)s: %(change)s makes any result at most %(factor)s times more or less likely.")
    else:
        text = _(
            "%(loss)s implies %(pair)s: but for a chance of δ, %(change)s makes any result at most %(factor)s times "
            "more or less likely."
        )
    weak = _("That is a weak promise; values of ε up to about 1 are usual.") if epsilon > WEAK else ""
    return f"{text % values} {weak}".strip()
