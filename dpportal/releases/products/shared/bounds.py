"""What a page says of values that lie at a declared bound, where values beyond it count as well."""

from __future__ import annotations

from dpportal.platform.json_types import Json
from dpportal.releases.products.shared.cells import SINGLE, cell_number, range_text
from mechanisms.moments.column import MeasuredColumn
from mechanisms.moments.estimates import Interval

# A share at a bound is said beside a mean if it certainly is so large, or may be so large; but one that may be nothing
# as well as more than the last is not told at all.
CERTAIN, POSSIBLE, UNCLEAR = 0.05, 0.25, 0.5
# Of a larger share, nearly all are said to be there.
NEARLY_ALL = 0.9
# Where counting begins: mostly no value is below, so that it cuts nothing off.
NATURAL = ("0", "1")


def may_be_large(share: Interval, row: int) -> bool:
    """Whether so many values may lie at the bound that the mean is not to be read without knowing it."""
    return bool(share.lower[row] >= CERTAIN or POSSIBLE <= share.upper[row] <= UNCLEAR)


def notes(column: MeasuredColumn, shares: tuple[Interval, Interval], row: int) -> list[Json]:
    """For each bound at which many values may lie: bound, is_upper, share as text, is_nearly_all, and of the lower one
    first_step_end; is_possible, where noise alone may explain all of them, or the lower bound is one below which such
    numbers seldom are.

    shares: of the values that count as each bound.
    """
    return [
        {
            "bound": bound,
            "is_upper": bool(place),
            "share": _text(share, row),
            "is_nearly_all": bool(share.lower[row] > NEARLY_ALL),
            "first_step_end": "" if place else column.first_step_end,
            "is_possible": bool(share.lower[row] < CERTAIN) or (not place and bound in NATURAL),
        }
        for place, (bound, share) in enumerate(zip(column.bound_texts, shares, strict=True))
        if may_be_large(share, row)
    ]


def _text(share: Interval, row: int) -> str:
    part = cell_number(share, (row,), "share")
    if part.is_lopsided:
        return range_text(part)
    text: str = SINGLE.cell([part])["text"]
    return text
