"""From a wanted error to the cost that reaches it, by trying: noise narrows by a law, but in steps of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Decimal

from mechanisms.accounting import Definition

# A cost is looked for until its error is at most this much below the wanted one; noise is discrete, so it may jump.
CLOSE = 0.03
TRIES = 12
SMALLEST_ON_DIAL, LARGEST_ON_DIAL = 0.001, 10.0
SMALLEST, LARGEST = Decimal("0.000001"), Decimal(1000)


def ends(total: Decimal) -> dict[str, float]:
    """The smallest and the largest cost, as powers of ten, of a dial for a budget."""
    return {
        "dial_low": math.log10(SMALLEST_ON_DIAL),
        "dial_high": math.log10(max(LARGEST_ON_DIAL, float(total))),
    }


def needed(amount: Decimal, calmer: float, definition: Definition) -> Decimal:
    """The cost at which noise is so many times less wide: it narrows as ε rises, and as the root of ρ does."""
    power = 1 if definition is Definition.PURE else 2
    return amount * Decimal(calmer) ** power


def amount_for(target: float, definition: Definition, error_of: Callable[[Decimal], float]) -> Decimal | None:
    """A cost whose error is at most the wanted one, and hardly less, in three digits; None if none is found.

    error_of: the error that a cost buys; it falls as the cost rises.
    """
    amount, enough = Decimal(1), None
    for _attempt in range(TRIES if target > 0 else 0):
        error = error_of(amount)
        if error <= target:
            enough = amount if enough is None else min(enough, amount)
            if error >= (1 - CLOSE) * target:
                break
        aim = (1 - CLOSE / 2) * target
        amount = _rounded(max(SMALLEST, needed(amount, max(error / aim, 0.01), definition)))
        if amount > LARGEST:
            break
    return enough


def _rounded(amount: Decimal) -> Decimal:
    return max(SMALLEST, amount.quantize(Decimal(1).scaleb(max(-6, amount.adjusted() - 2)), ROUND_CEILING))


def shown(error: float | None) -> float | None:
    """An error as the dial's field has it: whole where it is large, else three digits; None if there is none."""
    if error is None or not math.isfinite(error):
        return None
    return math.ceil(error) if error >= 100 or error == int(error) else float(f"{error:.3g}")
