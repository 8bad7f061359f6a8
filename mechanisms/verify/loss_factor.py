"""The factor by which a loss bounds what a person can change, as a statement rounds it up."""

from __future__ import annotations

import math

from mechanisms.accounting import Loss, chance_factor

_DECIMALS_BELOW, _THREE_DIGITS_BELOW = 1000.0, 1e6


def factor_shown(loss: Loss) -> list[float]:
    """With two decimals below a thousand, with three digits below a million, else with two; none beyond all floats."""
    factor = chance_factor(float(loss.amount))
    if not math.isfinite(factor):
        return []
    power = math.floor(math.log10(factor)) - (2 if factor < _THREE_DIGITS_BELOW else 1)
    step = 0.01 if factor < _DECIMALS_BELOW else 10.0**power
    return [math.ceil(factor / step - 1e-9) * step]
