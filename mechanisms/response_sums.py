"""Estimated numbers of rows with any of some values, from how many reports say them."""

from __future__ import annotations

from mechanisms.arrays import Integers
from mechanisms.box_queries import CellSum
from mechanisms.response import Response, ResponsePlan


def cell_sum(method: Response, plan: ResponsePlan, reports: Integers, rows: int, values: Integers) -> CellSum:
    """The unbiased estimates of some values added up, with an interval of their own. The number of rows is public.

    reports: (k,) of each value. values: the places of those that are added up.
    """
    if values.size == plan.categories:
        return CellSum(float(rows), 0.0, values.size)
    sums = method.estimate_together(plan, reports[values].sum(keepdims=True), rows, values.size)
    return CellSum(float(sums.counts[0]), float(sums.half_width[0]), values.size)
