"""Counted tables: which to count, tables within tables, and the true answers of a workload."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.workload import Term

Columns = tuple[str, ...]


def needed_tables(wanted: Sequence[Columns]) -> list[Columns]:
    """Those tables that are not sums of another one."""
    largest: list[Columns] = []
    for columns in sorted(wanted, key=len, reverse=True):
        if not any(set(columns) <= set(other) for other in largest):
            largest.append(columns)
    return largest


def margin(tables: Mapping[Columns, np.ndarray], columns: Sequence[str]) -> np.ndarray:
    """The table of these columns, in domain order, summed from the smallest one that holds them."""
    whole = min((t for t in tables if set(columns) <= set(t)), key=lambda t: tables[t].size)
    rest = tuple(axis for axis, name in enumerate(whole) if name not in columns)
    return tables[whole].sum(axis=rest)


def true_answers(plan: QueryPlan, counts: np.ndarray) -> np.ndarray:
    """(q,) true answers from the counts of `plan.counted`, one table after the other."""
    if plan.counted == (plan.domain.names,):
        return plan.workload.answers(counts)
    tables: dict[Columns, np.ndarray] = {}
    start = 0
    for columns in plan.counted:
        shape = plan.domain.project(columns).shape
        tables[columns] = counts[start : start + math.prod(shape)].reshape(shape)
        start += math.prod(shape)
    return np.concatenate([margin(tables, table_of(plan, term)).ravel() for term in plan.workload.terms])


def table_of(plan: QueryPlan, term: Term) -> Columns:
    """The columns of the marginal table that a term asks for."""
    asked = {axis for axis, factor in term.factors.items() if factor.queries > 1}
    return tuple(name for axis, name in enumerate(plan.domain.names) if axis in asked)
