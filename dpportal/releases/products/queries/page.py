"""What the public page of a release of answers shows, drawn once so that no page waits for it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice

import numpy as np

from dpportal.charts.cell_names import cell_names
from dpportal.charts.queries import MAX_RANGE_CELLS, answers_figure, ranges_figure, shown_queries
from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import together
from dpportal.publications.extremes import extremes
from dpportal.releases.products.queries import workloads
from dpportal.releases.products.queries.strategy import strategy_figures
from dpportal.releases.products.queries.words import said
from dpportal.releases.titles import read_aloud
from mechanisms.matrix.mechanism import QueryPlan, QueryResult
from mechanisms.matrix.workload.factor import AllRange
from mechanisms.noise.sum_quantiles import widening

# A page with so many lines takes less than 300 kB and a tenth of a second.
MAX_TABLE_ROWS = 800


def page(plan: QueryPlan, result: QueryResult) -> Json:
    """Charts and the first answers as JSON."""
    return {
        "finding": _finding(plan, result),
        "figure": figures_json("answers", [_answers_figure(plan, result)])[0],
        "strategy": figures_json("strategy", strategy_figures(plan)),
        "table": first_answers(plan, result),
        "queries": plan.workload.queries,
        "cells": result.cells is not None,
        "example": f"{min(2, plan.workload.queries)} - 1",
        "root_mean_error": root_mean(result.standard_errors),
        "widest": float(result.half_widths.max()),
        "narrowest": float(result.half_widths.min()),
    }


def _finding(plan: QueryPlan, result: QueryResult) -> Json:
    """Of how many answers, and the largest one with its margin where it is certain which one that is."""
    shown = {"columns": together(list(read_aloud(plan.domain.shown_names).values()))}
    # Noise on whole numbers lies beyond a half-width by up to one person.
    reach = widening(result.answers.size, plan.noise) * (result.half_widths + 1)
    top = extremes(result.answers - reach, result.answers + reach).highest
    if top is None:
        return {**shown, "alike": result.answers.size > 1}
    return {
        **shown,
        "largest": said(next(iter(workloads.labels_at(plan.workload, plan.domain, [top])))),
        "count": round(float(result.answers[top])),
        "margin": math.ceil(float(result.half_widths[top])),
    }


def _answers_figure(plan: QueryPlan, result: QueryResult) -> Figure:
    attribute, factor = plan.domain.attributes[0], plan.workload.terms[0].factors.get(0)
    alone = len(plan.domain.attributes) == len(plan.workload.terms) == 1
    if alone and isinstance(factor, AllRange) and attribute.size <= MAX_RANGE_CELLS:
        return ranges_figure(cell_names(attribute), factor.spans(), result.answers, result.half_widths)
    shown = shown_queries(result.answers.size)
    labels = list(map(said, workloads.labels_at(plan.workload, plan.domain, shown.tolist())))
    return answers_figure(
        labels, result.answers[shown], result.half_widths[shown], shown, result.answers.size
    )


def figures_json(name: str, figures: Iterable[Figure]) -> list[Json]:
    """Figures with names of their own on the page."""
    return [
        {"name": f"{name}-{place}", "json": f.json, "title": f.title, "caption": f.caption}
        for place, f in enumerate(figures, start=1)
    ]


def first_answers(plan: QueryPlan, result: QueryResult) -> list[list[object]]:
    """Rows of the table for the first queries: number, words, answer, standard error, interval."""
    size = min(plan.workload.queries, MAX_TABLE_ROWS)
    labels = islice(plan.workload.labels(plan.domain), size)
    answer, half_width = result.answers[:size], result.half_widths[:size]
    columns = (answer, result.standard_errors[:size], answer - half_width, answer + half_width)
    # Pages round to tenths: what was rounded before would often be rounded to the wrong one.
    numbers = [np.round(column, 6).tolist() for column in columns]
    return [
        [place, said(label), *row]
        for place, (label, *row) in enumerate(zip(labels, *numbers, strict=True), start=1)
    ]


def root_mean(values: np.ndarray) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
