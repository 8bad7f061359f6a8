"""The parts of a release of answers, each drawn by its shape: tables as counts are, running totals as lines."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.charts.answer_lines import AnswerLines, lines_figure
from dpportal.charts.cell_names import cell_names
from dpportal.charts.chosen_counts import ChosenCounts, chosen_figure, may_face
from dpportal.charts.group_traces import MAX_GROUPS
from dpportal.charts.queries import MAX_POINTS, answers_figure, shown_queries
from dpportal.charts.reader_counts import axes_of_two, reader_figure
from dpportal.charts.style import Figure
from dpportal.platform.listed_names import in_a_row
from dpportal.releases.products.queries.words import label_text, term_in_words
from dpportal.releases.products.queries.workloads import labels_at
from dpportal.releases.products.shared.numbers import decimals_for, number_text
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Domain
from mechanisms.matrix.mechanism import QueryPlan
from mechanisms.matrix.query_columns import TO
from mechanisms.matrix.workload.factor import Explicit, Factor, Identity, Prefix, Total, Width
from mechanisms.matrix.workload.range_views import range_views
from mechanisms.matrix.workload.union import Term

# Parts that a reader chooses among.
MAX_PARTS = 400


@dataclass(frozen=True)
class WorkloadPart:
    """One term of the workload, or what is read of it, and the places of its answers among all."""

    term: Term
    place: slice | Integers

    @property
    def factors(self) -> dict[int, Factor]:
        """What is asked of each column that is not added up, by its axis."""
        return {a: f for a, f in sorted(self.term.factors.items()) if not isinstance(f, Total)}

    def counts_people(self) -> bool:
        """Whether each answer is a number of people, and no weighted sum of them."""
        given = [f.matrix for f in self.factors.values() if isinstance(f, Explicit)]
        numbers = (matrix if isinstance(matrix, np.ndarray) else matrix.data for matrix in given)
        return all(bool((each == np.rint(each)).all()) for each in numbers)


class PartForm(forms.Form):
    """Which part a reader looks at; what an address says otherwise is the first."""

    part = forms.ChoiceField(label=gettext_lazy("Chart"), required=False)

    def __init__(self, plan: QueryPlan, question: QueryDict) -> None:
        self.parts = parts_of(plan)
        chosen = question.get("part", "")
        self.chosen = int(chosen) if chosen in map(str, range(len(self.parts))) else 0
        super().__init__({"part": str(self.chosen)}, label_suffix="")
        field = self.fields["part"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(str(place), called(plan, part)) for place, part in enumerate(self.parts)]


def parts_of(plan: QueryPlan) -> list[WorkloadPart]:
    """Of the first MAX_PARTS those with several answers; where none has, those of one.

    All ranges of a column are read as its single cells, and as running totals.
    """
    every = [
        part for term, place in islice(plan.workload.offsets(), MAX_PARTS) for part in _read(term, place)
    ]
    return [part for part in every if part.term.queries > 1] or every


def _read(term: Term, place: slice) -> list[WorkloadPart]:
    views = [WorkloadPart(view.term, place.start + view.places) for view in range_views(term)]
    return views or [WorkloadPart(term, place)]


def count_people(plan: QueryPlan) -> bool:
    """Whether each answer of all is a number of people."""
    return all(WorkloadPart(term, place).counts_people() for term, place in plan.workload.offsets())


def margin_shown(half_width: float, people: bool) -> int | str:
    """Of numbers of people rounded up to whole ones, of weighted sums with two digits."""
    return math.ceil(half_width) if people else number_text(half_width, decimals_for(half_width))


def answer_shown(answer: float, half_width: float, people: bool) -> int | str:
    """As many digits as its margin has."""
    return round(answer) if people else number_text(answer, decimals_for(half_width))


def called(plan: QueryPlan, part: WorkloadPart) -> str:
    """What it asks, in words."""
    of_columns = plan.workload.shape == plan.domain.shape
    return term_in_words(part.term, plan.domain.for_readers.names if of_columns else [""])


def part_figure(plan: QueryPlan, part: WorkloadPart, answers: Floats, margins: Floats) -> Figure:
    """The chart of one part. answers, margins: (q,) of all queries, as they were worked out."""
    own, reach = answers[part.place], margins[part.place]
    factors, domain = part.factors, plan.domain.for_readers
    title = called(plan, part)
    if plan.workload.shape == plan.domain.shape and factors:
        steps = {axis: f for axis, f in factors.items() if not isinstance(f, Identity)}
        columns = Domain(tuple(domain.attributes[axis] for axis in factors))
        if not steps and (len(factors) > 1 or own.size <= MAX_POINTS):
            return _table(columns, own, reach)
        if steps and (lines := _lines(columns, factors, steps, own, reach)) is not None:
            return lines_figure(lines, title)
    return _dots(plan, part, own, reach)


def _table(columns: Domain, answers: Floats, margins: Floats) -> Figure:
    """As a histogram of these columns is drawn; all have the widest of the margins."""
    values, widest = np.rint(answers).astype(np.int64), int(np.ceil(margins.max()))
    sentence = _("Some margins are narrower, as the table says.") if margins.min() <= widest - 1 else ""
    axes = axes_of_two(columns) or (0, 0)
    along, by = (columns.attributes[axis] for axis in axes)
    if along is not by and may_face(along, by):
        table = values.reshape(columns.shape).transpose(axes).astype(np.float64)
        figure = chosen_figure(ChosenCounts(along, by, table, widest))
    else:
        alone = [widest] if len(columns.shape) == 1 else [None] * len(columns.shape)
        figure = reader_figure(columns, raw=values, counts=None, half_width=widest, margins=alone)
    return Figure(figure.json, in_a_row([figure.caption, sentence]), figure.title)


def _lines(
    columns: Domain,
    factors: Mapping[int, Factor],
    steps: Mapping[int, Factor],
    answers: Floats,
    margins: Floats,
) -> AnswerLines | None:
    """Sums along one column, and by the cells of another where it has few; None where these are not asked.

    columns: those of `factors`. steps: what is asked otherwise than cell by cell.
    """
    [axis, *others] = steps
    factor, groups = steps[axis], [f for a, f in factors.items() if a != axis]
    along = list(factors).index(axis)
    if others or len(groups) > 1 or not isinstance(factor, Prefix | Width) or factor.queries > MAX_POINTS:
        return None
    if groups and groups[0].queries > MAX_GROUPS:
        return None
    attribute, table = columns.attributes[along], [f.queries for f in factors.values()]
    order = [along, *(place for place in range(len(table)) if place != along)]
    shape = (factor.queries, groups[0].queries if groups else 1)
    by = columns.attributes[1 - along] if groups else None
    name = attribute.shown_name
    return AnswerLines(
        _ends(cell_names(attribute), factor),
        cell_names(by) if by else [""],
        np.rint(answers).reshape(table).transpose(order).reshape(shape),
        np.ceil(margins).reshape(table).transpose(order).reshape(shape),
        _("%(column)s, up to this one") % {"column": name} if isinstance(factor, Prefix) else name,
        by.shown_name if by else "",
    )


def _ends(names: Sequence[str], factor: Prefix | Width) -> list[str]:
    """What stands along the axis: how far each total runs, or the first and the last cell of each range."""
    spans = factor.spans().tolist()
    if isinstance(factor, Prefix):
        return [names[stop - 1] for _start, stop in spans]
    return [names[a] if b - a == 1 else f"{names[a]}{TO}{names[b - 1]}" for a, b in spans]


def _dots(plan: QueryPlan, part: WorkloadPart, answers: Floats, margins: Floats) -> Figure:
    """Each answer by itself, in the order of the queries."""
    shown, alone = shown_queries(answers.size), replace(plan.workload, terms=(part.term,))
    labels = [label_text(label) for label in labels_at(alone, plan.domain.for_readers, shown.tolist())]
    places = part.place.start + shown if isinstance(part.place, slice) else part.place[shown]
    figure = answers_figure(labels, answers[shown], margins[shown], places, answers.size)
    return Figure(figure.json, figure.caption, called(plan, part))
