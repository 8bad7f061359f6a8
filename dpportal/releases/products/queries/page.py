"""What the public page of a release of answers shows, drawn once so that no page waits for it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice

import numpy as np

from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_sentence
from dpportal.publications.extremes import extremes
from dpportal.releases.products.queries import workloads
from dpportal.releases.products.queries.parts import (
    WorkloadPart,
    answer_shown,
    count_people,
    margin_shown,
    part_figure,
    parts_of,
)
from dpportal.releases.products.queries.strategy import strategy_figures
from dpportal.releases.products.queries.words import label_text
from dpportal.releases.products.shared.figures import figure_json
from dpportal.releases.titles import read_aloud
from mechanisms.matrix.mechanism import QueryPlan, QueryResult
from mechanisms.noise.sum_quantiles import widening

# A page with so many lines takes less than 300 kB and a tenth of a second.
MAX_TABLE_ROWS = 800
# Charts in a file by itself, which has no form to choose among them.
MAX_REPORTED = 6


def page(plan: QueryPlan, result: QueryResult) -> Json:
    """Charts and the first answers as JSON. parts: charts of further parts, for a file without a form."""
    first, *others = [
        part_figure(plan, part, result.answers, result.half_widths) for part in parts_of(plan)[:MAX_REPORTED]
    ]
    people, ends = count_people(plan), (result.half_widths.min(), result.half_widths.max())
    return {
        "finding": _finding(plan, result),
        "figure": figure_json(first),
        "parts": [figure_json(figure) for figure in others],
        "strategy": figures_json("strategy", strategy_figures(plan)),
        "table": shown_answers(plan, result),
        "queries": plan.workload.queries,
        "cells": result.cells is not None,
        "example": f"{min(2, plan.workload.queries)} - 1",
        "margins": [margin_shown(float(end), people) for end in ends],
    }


def _finding(plan: QueryPlan, result: QueryResult) -> Json:
    """How many there are in all where that is asked; else the largest answer where it is certain which one that is."""
    shown = {"columns": in_sentence(list(read_aloud(plan.domain.shown_names).values()))}
    if plan.workload.totals:
        narrowest = min(plan.workload.totals, key=lambda place: result.half_widths[place])
        return {**shown, "everybody": True, **_answer(result, narrowest)}
    # Noise on whole numbers lies beyond a half-width by up to one person.
    reach = widening(result.answers.size, plan.noise) * (result.half_widths + 1)
    top = extremes(result.answers - reach, result.answers + reach).highest
    if top is None:
        return shown
    label = workloads.label_of(plan.workload, plan.domain.for_readers, top + 1)
    return {**shown, "largest": label, **_answer(result, top)}


def _answer(result: QueryResult, place: int) -> Json:
    """One answer with its margin, as the table of answers has it."""
    return {
        "count": round(float(result.answers[place])),
        "margin": math.ceil(float(result.half_widths[place])),
    }


def figures_json(name: str, figures: Iterable[Figure]) -> list[Json]:
    """Figures with names of their own on the page."""
    return [
        {"name": f"{name}-{place}", "json": f.json, "title": f.title, "caption": f.caption}
        for place, f in enumerate(figures, start=1)
    ]


def first_answers(plan: QueryPlan, result: QueryResult) -> list[list[object]]:
    """Rows of the curator's table for the first queries: number, words, answer, standard error, interval."""
    size = min(plan.workload.queries, MAX_TABLE_ROWS)
    labels = islice(plan.workload.labels(plan.domain.for_readers), size)
    answer, half_width = result.answers[:size], result.half_widths[:size]
    columns = (answer, result.standard_errors[:size], answer - half_width, answer + half_width)
    # Pages round to tenths: what was rounded before would often be rounded to the wrong one.
    numbers = [np.round(column, 6).tolist() for column in columns]
    return [
        [place, label_text(label), *row]
        for place, (label, *row) in enumerate(zip(labels, *numbers, strict=True), start=1)
    ]


def shown_answers(plan: QueryPlan, result: QueryResult) -> list[list[object]]:
    """Rows of the readers' table for the first queries: number, words, answer, margin.

    Numbers of people are whole, with the margin rounded up; weighted sums are texts with two digits of it.
    """
    size = min(plan.workload.queries, MAX_TABLE_ROWS)
    labels = islice(plan.workload.labels(plan.domain.for_readers), size)
    answers, margins = result.answers[:size].tolist(), result.half_widths[:size].tolist()
    people = np.zeros(size, dtype=bool)
    for term, place in plan.workload.offsets():
        people[place] = WorkloadPart(term, place).counts_people()
    return [
        [place, label_text(label), answer_shown(answer, margin, counted), margin_shown(margin, counted)]
        for place, (label, answer, margin, counted) in enumerate(
            zip(labels, answers, margins, people.tolist(), strict=True), start=1
        )
    ]


def root_mean(values: np.ndarray) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(values))))
