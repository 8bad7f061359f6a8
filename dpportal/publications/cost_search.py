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
# The least cost that is proposed, and how close to the least useful one a proposal is.
SMALLEST_USUAL, WITHIN = Decimal("0.001"), 1.03
# Without a budget, what a proposal is a tenth of.
WITHOUT_BUDGET = Decimal(10)


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


def least_useful(ceiling: Decimal, is_useful: Callable[[Decimal], bool]) -> Decimal | None:
    """The least cost of two digits at which a release is expected to be useful; None if it is not at the ceiling.

    Never above the ceiling. is_useful: whether it is at a cost; once it is, it is at every higher one.
    """
    if not is_useful(ceiling):
        return None
    low, high = float(SMALLEST_USUAL), float(ceiling)
    if low >= high or is_useful(SMALLEST_USUAL):
        return min(SMALLEST_USUAL, ceiling)
    while high / low > WITHIN:
        middle = two_digits(math.sqrt(low * high))
        if not low < float(middle) < high:
            break
        low, high = (low, float(middle)) if is_useful(middle) else (float(middle), high)
    return min(two_digits(high), ceiling)


def two_digits(amount: float | Decimal) -> Decimal:
    """A cost rounded up to two significant digits, in whole millionths."""
    exact = Decimal(f"{amount:.12g}")
    return exact.quantize(Decimal(1).scaleb(max(-6, exact.adjusted() - 1)), ROUND_CEILING)


def _rounded(amount: Decimal) -> Decimal:
    return max(SMALLEST, amount.quantize(Decimal(1).scaleb(max(-6, amount.adjusted() - 2)), ROUND_CEILING))


def shown(error: float | None) -> float | None:
    """An error as the dial's field has it: whole where it is large, else three digits; None if there is none."""
    if error is None or not math.isfinite(error):
        return None
    return math.ceil(error) if error >= 100 or error == int(error) else float(f"{error:.3g}")
