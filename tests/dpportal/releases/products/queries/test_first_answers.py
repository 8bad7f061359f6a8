"""Answers in the table of a page, which shows tenths of them: rounded once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpportal.budgets.templatetags.numbers import margin, tenths
from dpportal.releases.products.queries.page import first_answers
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.matrix.mechanism import QueryResult
from mechanisms.matrix.workload.text import read_workload


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
