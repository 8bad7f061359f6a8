"""What only the curator sees: answers beside true answers, with each error beside what the plan led to expect."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice

import numpy as np

from dpportal.charts.queries import (
    MAX_LENGTHS,
    comparison_figure,
    lengths_figure,
    lengths_map,
    shown_queries,
    tables_figure,
)
from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json
from dpportal.releases.products.queries import workloads
from dpportal.releases.products.queries.page import figures_json, first_answers, root_mean
from dpportal.releases.products.queries.strategy import strategy_figures
from dpportal.releases.products.queries.truth import table_of, true_answers
from dpportal.releases.products.queries.words import label_text
from mechanisms.matrix.mechanism import QueryPlan, QueryResult
from mechanisms.matrix.workload.union import EVERYTHING, Term

COVERAGE = 0.95
MAX_TERM_FIGURES = 3
HEADER = [
    "number",
    "query",
    "answer",
    "standard_error",
    "interval_lower",
    "interval_upper",
    "true_answer",
    "error",
]


def build(plan: QueryPlan, result: QueryResult, counts: np.ndarray) -> Json:
    """The compare page as JSON. Holds true answers; stored with the records.

    counts: true, of the tables of `plan.counted`.
    """
    true = true_answers(plan, counts)
    figures = [_against_truth(plan, result, true), *_by_part(plan, result, true)]
    return {
        "figures": figures_json("figure", figures),
        "strategy": figures_json("strategy", strategy_figures(plan)),
        "numbers": _numbers(plan, result, true),
        "header": HEADER,
        "table": _table(plan, result, true),
        "queries": plan.workload.queries,
    }


def _against_truth(plan: QueryPlan, result: QueryResult, true: np.ndarray) -> Figure:
    shown = shown_queries(true.size)
    labels = list(workloads.labels_at(plan.workload, plan.domain.for_readers, shown.tolist()))
    return comparison_figure(labels, result.answers[shown], result.half_widths[shown], true[shown], true.size)


def _numbers(plan: QueryPlan, result: QueryResult, true: np.ndarray) -> Json:
    """Headline numbers, observed and expected; `possible` is of the answers from the non-negative cells."""
    error = result.answers - true
    possible = None if result.cells is None else root_mean(plan.workload.answers(result.cells) - true)
    return {
        "root_mean": root_mean(error),
        "typical": root_mean(true),
        "expected_root_mean": root_mean(result.standard_errors),
        "possible_root_mean": possible,
        "largest": float(np.abs(error).max()),
        "inside": float((np.abs(error) <= result.half_widths).mean()),
        "expected_inside": COVERAGE,
        "ratio": plan.ratio,
    }


def _table(plan: QueryPlan, result: QueryResult, true: np.ndarray) -> list[list[object]]:
    rows = first_answers(plan, result)
    exact = np.round(true[: len(rows)], 2).tolist()
    return [[*row, t, round(row[2] - t, 2)] for row, t in zip(rows, exact, strict=True)]


def _by_part(plan: QueryPlan, result: QueryResult, true: np.ndarray) -> Iterator[Figure]:
    """Errors by length of the range, by the sides of two-dimensional ranges, and by marginal table."""
    squared, expected = (result.answers - true) ** 2, result.standard_errors**2
    if len(plan.workload.terms) > 1 and plan.workload.marginals() is not None:
        yield _by_table(plan, squared, expected)
    for term, place in islice(plan.workload.offsets(), MAX_TERM_FIGURES):
        sides = _sides(term)
        if 1 <= len(sides) <= 2:
            yield _by_sides(plan, sides, squared[place], expected[place])


def _sides(term: Term) -> dict[int, np.ndarray]:
    """The lengths of a term's ranges, (q,) by axis, for those columns of which ranges of several lengths are asked."""
    shape = [factor.queries for _axis, factor in sorted(term.factors.items())]
    sides = {}
    for place, (axis, factor) in enumerate(sorted(term.factors.items())):
        spans = factor.spans()
        if spans is not None and (lengths := spans[:, 1] - spans[:, 0]).min() < lengths.max():
            along = [-1 if i == place else 1 for i in range(len(shape))]
            sides[axis] = np.broadcast_to(lengths.reshape(along), shape).ravel()
    return sides


def _by_sides(
    plan: QueryPlan, sides: dict[int, np.ndarray], squared: np.ndarray, expected: np.ndarray
) -> Figure:
    """Root mean square errors by the length of a range, or of both sides of a two-dimensional one."""
    names = [plan.domain.for_readers.names[axis] for axis in sides]
    grouped = [_grouped(side) for side in sides.values()]
    lengths = [distinct for distinct, _places in grouped]
    shape = tuple(distinct.size for distinct in lengths)
    groups = np.asarray(np.ravel_multi_index(tuple(places for _lengths, places in grouped), shape))
    observed, predicted = (
        np.sqrt(_mean_by(groups, values, math.prod(shape))).reshape(shape) for values in (squared, expected)
    )
    if len(sides) == 1:
        return lengths_figure(lengths[0], observed, predicted, names[0])
    return lengths_map((lengths[0], lengths[1]), observed, predicted, names)


def _grouped(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lengths that a chart tells apart, and for each query which one is its own; long columns in steps."""
    step = -(-int(lengths.max()) // MAX_LENGTHS)
    distinct, places = np.unique(-(-lengths // step) * step, return_inverse=True)
    return distinct, places


def _mean_by(groups: np.ndarray, values: np.ndarray, number: int) -> np.ndarray:
    """The mean of the values of each group; NaN for an empty one."""
    with np.errstate(invalid="ignore"):
        return np.bincount(groups, values, number) / np.bincount(groups, minlength=number)


def _by_table(plan: QueryPlan, squared: np.ndarray, expected: np.ndarray) -> Figure:
    names, observed, predicted = [], [], []
    for term, place in plan.workload.offsets():
        names.append(" × ".join(table_of(plan, term)) or label_text(EVERYTHING))
        observed.append(squared[place].mean())
        predicted.append(expected[place].mean())
    return tables_figure(names, np.sqrt(observed), np.sqrt(predicted))
