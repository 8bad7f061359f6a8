"""How many people a release is about, which its public page says first."""

from __future__ import annotations

import math

from dpportal.platform.json_types import Json
from mechanisms.box_queries import CellSum


def counted(everyone: CellSum | None, otherwise: float) -> Json:
    """people, and margin where the measurement tells one (0: exactly). otherwise: an estimate without a margin."""
    total = {"people": max(0, round(everyone.estimate if everyone else otherwise))}
    if everyone and everyone.half_width is not None:
        total["margin"] = math.ceil(everyone.half_width)
    return total
