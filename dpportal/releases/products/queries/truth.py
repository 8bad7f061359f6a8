"""Counted tables: which to count, tables within tables, and the true answers of a workload."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.workload.union import Term

TermColumns = tuple[str, ...]


def largest_tables(tables: Sequence[TermColumns]) -> dict[TermColumns, TermColumns]:
    """For each table, the one that it is a sum of; itself where no larger one is wanted."""
    largest: dict[TermColumns, TermColumns] = {}
    for columns in sorted(set(tables), key=len, reverse=True):
        if columns not in largest:
            parts = (part for size in range(len(columns) + 1) for part in combinations(columns, size))
            largest |= {part: columns for part in parts if part not in largest}
    return {columns: largest[columns] for columns in tables}


def margin(table: np.ndarray, all_columns: TermColumns, columns: TermColumns) -> np.ndarray:
    """The table of some of the columns of a larger one, both in domain order."""
    others = tuple(axis for axis, name in enumerate(all_columns) if name not in columns)
    return np.asarray(table.sum(axis=others))


def true_answers(plan: QueryPlan, counts: np.ndarray) -> np.ndarray:
    """(q,) true answers from the counts of `plan.counted`, one table after the other."""
    if plan.counted == (plan.domain.names,):
        return plan.workload.answers(counts)
    tables: dict[TermColumns, np.ndarray] = {}
    start = 0
    for columns in plan.counted:
        shape = plan.domain.project(columns).shape
        tables[columns] = counts[start : start + math.prod(shape)].reshape(shape)
        start += math.prod(shape)
    requested = [table_of(plan, term) for term in plan.workload.terms]
    largest = largest_tables([*tables, *requested])
    return np.concatenate([margin(tables[largest[c]], largest[c], c).ravel() for c in requested])


def table_of(plan: QueryPlan, term: Term) -> TermColumns:
    """The columns of the marginal table that a term asks for."""
    axes = {axis for axis, factor in term.factors.items() if factor.queries > 1}
    return tuple(name for axis, name in enumerate(plan.domain.names) if axis in axes)
