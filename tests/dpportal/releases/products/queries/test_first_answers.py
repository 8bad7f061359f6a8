"""Answers in the table of a page, which shows tenths of them: rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from django.template.loader import render_to_string

from dpportal.budgets.templatetags.numbers import margin, tenths
from dpportal.releases.products.queries.page import first_answers, page
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.mechanism import QueryResult
from mechanisms.matrix.workload.text import read_workload
from tests.dpportal.markup import folded


def test_answers_and_margins_are_rounded_once():
    """4.3471 to 4.3 and not by 4.35 to 4.4; ± 84.9445 to 84.9 and not by 84.95 to 85.0."""
    domain = Domain((Integer("age", lower=0, upper=1),))
    workload = read_workload('identity("age")', domain)
    plan = registry.query_mechanism("identity-strategy").plan(
        domain, workload, Loss(Definition.PURE, Fraction(1))
    )
    result = QueryResult(np.array([4.3471, 4.3529]), np.array([0.0499, 39.85]), np.array([84.9445, 84.9445]))
    first, second = first_answers(plan, result)
    assert [tenths(first[2]), tenths(first[3])] == ["4.3", "0.0"]
    assert [margin(upper, answer) for _place, _label, answer, _error, _low, upper in (first, second)] == [
        "± 84.9",
        "± 84.9",
    ]


def finding_of(text: str, size: int, answers: list[float], half_widths: list[float]) -> str:
    """The first sentences of a page."""
    domain = Domain((Integer("age", lower=0, upper=size - 1),))
    loss = Loss(Definition.PURE, Fraction(1))
    plan = registry.query_mechanism("identity-strategy").plan(domain, read_workload(text, domain), loss)
    result = QueryResult(np.array(answers), np.ones(len(answers)), np.array(half_widths))
    shown = {"finding": page(plan, result)["finding"], "queries": plan.workload.queries}
    return folded(render_to_string("releases/queries/_finding.html", {"shown": shown, "plan": plan}))


def test_the_number_of_all_leads_where_it_is_asked_even_if_noise_lets_another_answer_be_larger():
    """All ranges of two cells: 0, 0–1 and 1, of which the second are all."""
    text = finding_of('ranges("age")', 2, [101, 100.4, 2], [5, 5.2, 5])
    assert "All together: <strong>100</strong> ± 6. <strong>3</strong> numbers of people, by age." in text
    assert "largest" not in text


def test_of_several_numbers_of_all_the_one_that_is_told_best_leads():
    text = finding_of('total + prefix("age")', 2, [99, 50, 101], [30, 5, 7])
    assert "All together: <strong>101</strong> ± 7." in text


def test_without_the_number_of_all_nothing_is_said_that_says_nothing():
    text = finding_of('identity("age")', 3, [10, 11, 12], [9, 9, 9])
    assert "<strong>3</strong> numbers of people, by age." in text and "certainly" not in text
    assert "The largest, age 2, is <strong>90</strong> ± 9." in finding_of(
        'identity("age")', 3, [10, 11, 90], [9, 9, 9]
    )
