"""Estimated numbers of rows with any of some values, from how many reports say them."""

from __future__ import annotations

from dataclasses import replace

from mechanisms.arrays import Integers
from mechanisms.boxes import CellSum
from mechanisms.response import Estimate, ResponsePlan, UnaryEncoding, estimate_of


def cell_sum(plan: ResponsePlan, reports: Integers, rows: int, values: Integers) -> CellSum:
    """The unbiased estimates of some values added up, with an interval of their own. The number of rows is public.

    reports: (k,) of each value. values: the places of those that are added up.
    """
    if values.size == plan.categories:
        return CellSum(float(rows), 0.0, values.size)
    found = estimate_together(plan, reports[values].sum(keepdims=True), rows, values.size)
    return CellSum(float(found.counts[0]), float(found.half_width[0]), values.size)


def estimate_together(plan: ResponsePlan, reports: Integers, rows: int, values: int) -> Estimate:
    """How many rows have one of s values, from how many reports say one of them.

    By randomised response a row with one of them reports one of them with probability keep + (s-1) other, any other
    row with s other: an answer to a question of two values. By unary encoding s - 1 of a row's answers are coins of
    `other` whatever it has, and add their mean and variance.
    """
    if plan.mechanism == UnaryEncoding.name:
        coins, other = values - 1, float(plan.other)
        return estimate_of(plan, reports - rows * coins * other, rows, coins * other * (1 - other))
    joint = replace(plan, keep=plan.keep + (values - 1) * plan.other, other=values * plan.other)
    return estimate_of(joint, reports, rows)
