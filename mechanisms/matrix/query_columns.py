"""What a query asks of each column of the table, in columns of a file: a value, a range of them, or all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mechanisms.arrays import Integers
from mechanisms.domain import MISSING_LABEL, Attribute
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.workload.factor import Factor
from mechanisms.matrix.workload.union import Term
from mechanisms.tabular.label_columns import LabelColumn, label_columns

ALL = "(all)"
TO = " … "
TITLE = f"{{column}}: a value, the first and the last of a range with{TO}between them, or {ALL}"


def query_columns(plan: QueryPlan) -> list[LabelColumn]:
    """A column for each of the table's, and for the labels of codes; none where queries name cells of all together."""
    return label_columns(plan.domain) if plan.workload.shape == plan.domain.shape else []


def query_fields(columns: Sequence[LabelColumn]) -> list[dict[str, str]]:
    """They as Frictionless fields; texts, as ranges are."""
    return [
        {"name": column.name, "type": "string", "title": TITLE.format(column=column.title)}
        for column in columns
    ]


def query_frame(plan: QueryPlan, columns: Sequence[LabelColumn], part: slice) -> pd.DataFrame:
    """What the queries of these places ask, a row for each."""
    frames = []
    for term, place in plan.workload.offsets():
        start, stop = max(part.start, place.start), min(part.stop, place.stop)
        if start < stop:
            frames.append(_of_term(term, np.arange(start, stop) - place.start, plan, columns))
    return pd.concat(frames, ignore_index=True)


def _of_term(term: Term, numbers: Integers, plan: QueryPlan, columns: Sequence[LabelColumn]) -> pd.DataFrame:
    """Of the term's queries with these numbers."""
    axes = sorted(term.factors)
    sizes = [term.factors[axis].queries for axis in axes]
    of_axis = dict(zip(axes, np.unravel_index(numbers, sizes), strict=True)) if axes else {}
    texts = {
        column.name: _texts(
            column, plan.domain.attributes[column.axis], term.factors[column.axis], of_axis[column.axis]
        )
        if column.axis in term.factors
        else ALL
        for column in columns
    }
    return pd.DataFrame(texts, index=range(len(numbers)))


def _texts(column: LabelColumn, attribute: Attribute, factor: Factor, queries: Integers) -> np.ndarray:
    """A text for each of a factor's queries with these numbers."""
    spans = factor.spans()
    if spans is None:
        return np.array(list(factor.phrases(attribute)), dtype=object)[queries]
    first, last = spans[queries, 0], spans[queries, 1] - 1
    labels = np.array(column.labels, dtype=object)
    ends = np.array([label or MISSING_LABEL for label in column.labels], dtype=object)
    texts = np.where(first == last, labels[first], ends[first] + TO + ends[last])
    texts[(first == 0) & (last == attribute.size - 1)] = ALL
    return np.asarray(texts)
