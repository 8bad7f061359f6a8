"""For which acts a site wants a second person, as its environment says: no administrator can lift that alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from django.core.exceptions import ImproperlyConfigured

PREFIX = "DPPORTAL_TWO_PEOPLE"
SPENDS, PROTECTION, KNOWN_TABLES, DEFINITIONS = "spends", "protection", "known-tables", "definitions"
# A table that its own database defines anew is another one, too, whoever wrote what.
FOLLOWED = "followed-tables"
GOES_WITH = {FOLLOWED: DEFINITIONS}
ACTS = (SPENDS, PROTECTION, KNOWN_TABLES, DEFINITIONS)
LONGEST_DAYS = 365


@dataclass(frozen=True)
class TwoPeople:
    """acts: those that need a second person. epsilon, rho: a spend above it does. days: how long a request waits."""

    acts: frozenset[str] = frozenset()
    epsilon: Decimal = Decimal(1)
    rho: Decimal = Decimal("0.1")
    days: int = 7

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> TwoPeople:
        """As the variables say; without any, no act needs a second person. Raises ImproperlyConfigured."""
        acts = frozenset(environment.get(PREFIX, "").replace(",", " ").split())
        if acts - set(ACTS):
            raise ImproperlyConfigured(
                f"{PREFIX} must list some of: {', '.join(ACTS)}, separated by commas. Change it, or leave it out."
            )
        return cls(
            acts,
            _amount(environment, f"{PREFIX}_EPSILON", cls.epsilon),
            _amount(environment, f"{PREFIX}_RHO", cls.rho),
            _days(environment, f"{PREFIX}_DAYS"),
        )


def _amount(environment: Mapping[str, str], name: str, default: Decimal) -> Decimal:
    try:
        amount = Decimal(environment.get(name) or default)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not (amount.is_finite() and amount >= 0):
        raise ImproperlyConfigured(
            f"{name} must be a number from 0 on, such as 0.5. Change it, or leave it out."
        )
    return amount


def _days(environment: Mapping[str, str], name: str) -> int:
    given = environment.get(name) or str(TwoPeople.days)
    if not (given.isascii() and given.isdecimal() and 0 < int(given[:4]) <= LONGEST_DAYS):
        raise ImproperlyConfigured(f"{name} must be a whole number from 1 to {LONGEST_DAYS}.")
    return int(given)
