"""How numbers and totals are read from the measured sums, by which readers work out their margins."""

from __future__ import annotations

import math

from mechanisms.json_types import JsonObject
from mechanisms.moments.estimates import Sums
from mechanisms.moments.plan import ColumnPlan, MomentsPlan


def reading(plan: MomentsPlan, planned: ColumnPlan) -> JsonObject:
    """Of a column: the weights of its sums, of which the first so many are public and have no noise.

    possible: between which numbers and totals lie, None where nothing bounds them. A total reads values that were
    rounded down to whole steps; where that rounds any, its interval is wider. adding_up: where the number of rows is
    public, what it is, and the weights of a group's people, which all groups together make it of.
    """
    own, column = Sums.of(plan, planned), planned.column
    weights, possible = {"number": own.number.tolist()}, {"number": [0.0, None]}
    if not column.is_date and not column.floor_error:
        weights["total"] = (float(column.lower) * own.number + own.span * own.first).tolist()
        possible["total"] = [end if math.isfinite(end) else None for end in column.possible_totals]
    people = {"rows": own.public.rows, "weights": own.people.tolist()} if own.public else None
    return {
        "column": column.attribute.name,
        "public_sums": planned.basis.quiet,
        "weights": weights,
        "possible": possible,
        **({"adding_up": people} if people else {}),
    }
