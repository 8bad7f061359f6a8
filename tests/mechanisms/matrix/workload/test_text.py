"""The text form: what it means, that it is read back as it was written, and where it is refused."""

from __future__ import annotations

import time

import numpy as np
import pytest

from mechanisms.domain import Boolean, Categorical, Domain, Integer
from mechanisms.matrix.workload.factor import AllRange, Explicit, Factor, Identity, Prefix, Width
from mechanisms.matrix.workload.text import read_workload
from mechanisms.protocol import PlanError

DOMAIN = Domain(
    (
        Integer("age", lower=0, upper=9),
        Categorical("sex", values=("F", "M", "Other")),
        Boolean('say "yes", or + x'),
    )
)
MATRIX = Explicit(np.ones((2, 10)), ("all", "everyone"))
WHOLE = Explicit(np.eye(60)[:7])
MATRICES = {"ab12": MATRIX, "cd34": WHOLE, "ef56": Explicit(np.zeros((0, 60)))}


@pytest.mark.parametrize(
    ("text", "tidy", "terms"),
    [
        ("total", "total", [(1, {})]),
        (' identity( "sex" )', 'identity("sex")', [(1, {1: Identity(3)})]),
        (
            'prefix("age")x identity("sex")+2.50*total',
            'prefix("age") x identity("sex") + 2.5 * total',
            [(1, {0: Prefix(10), 1: Identity(3)}), (2.5, {})],
        ),
        (
            'width(3,"age") + ranges("age")',
            'width(3, "age") + ranges("age")',
            [(1, {0: Width(10, 3)}), (1, {0: AllRange(10)})],
        ),
        (
            '100 * marginal("sex","say \\"yes\\", or + x")',
            '100 * marginal("sex", "say \\"yes\\", or + x")',
            [(100, {1: Identity(3), 2: Identity(2)})],
        ),
        (
            "marginals(=2)",
            "marginals(=2)",
            [
                (1, {0: Identity(10), 1: Identity(3)}),
                (1, {0: Identity(10), 2: Identity(2)}),
                (1, {1: Identity(3), 2: Identity(2)}),
            ],
        ),
        (
            '3*marginals( <= 2, "sex", "age")',
            '3 * marginals(<=2, "sex", "age")',
            [(3, {0: Identity(10)}), (3, {1: Identity(3)}), (3, {0: Identity(10), 1: Identity(3)})],
        ),
        (
            'uploaded("ab12", "age") x identity("sex")',
            'uploaded("ab12", "age") x identity("sex")',
            [(1, {0: MATRIX, 1: Identity(3)})],
        ),
    ],
)
def test_what_a_text_means(text: str, tidy: str, terms: list[tuple[float, dict[int, Factor]]]) -> None:
    workload = read_workload(text, DOMAIN, MATRICES)
    assert workload.shape == (10, 3, 2)
    assert [(t.weight, t.factors) for t in workload.terms] == terms
    assert workload.text == tidy
    assert read_workload(tidy, DOMAIN, MATRICES).text == tidy


def test_queries_uploaded_over_all_cells_make_one_axis() -> None:
    workload = read_workload('0.5 * uploaded("cd34")', DOMAIN, MATRICES)
    assert (workload.shape, workload.queries) == ((60,), 7)
    assert list(workload.labels(DOMAIN))[:2] == ["query 1", "query 2"]
    assert (workload.answers(np.arange(60)) == np.arange(7)).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "at its end: expected one of total, identity"),
        ('prefx("age")', r"at character 1, near 'prefx\(\"age\"\)': expected one of"),
        ('prefix("age"', r"at its end: expected \)"),
        ("prefix(age)", "expected a name in double quotes"),
        ('prefix("age', "does not end"),
        ('prefix("age") identity("sex")', "at character 15, near .*expected \\+ or x"),
        ('2 prefix("age")', r"expected \* after a weight"),
        ("0 * total", "a weight must be above 0"),
        ("1234567890123 * total", "a weight must be"),
        ('prefix("age") x ranges("age")', "named twice"),
        ('total x prefix("age")', "stand alone"),
        ("marginals(2)", "expected ="),
        ("marginals(<=0)", "above 0"),
        ("marginals(<=4)", "tables of 4 columns, and there are 3"),
        ('prefix("income")', r'"income", which is not among the chosen columns \(age, sex'),
        ('width(11, "age")', 'ranges of 11 cells of "age", which has 10'),
        ('uploaded("00")', "No uploaded queries are known as 00"),
        ('uploaded("ef56")', "holds no queries"),
        ('uploaded("ab12")', "have 10 columns; the chosen columns have 60 cells"),
        ('uploaded("cd34") + total', "stand alone"),
        ("total + " * 20_000 + "total", "too long"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(text: str, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        read_workload(text, DOMAIN, MATRICES)


@pytest.mark.slow
def test_all_tables_of_up_to_three_of_a_hundred_columns_are_read_at_once() -> None:
    domain = Domain(tuple(Integer(f"c{i}", lower=0, upper=9) for i in range(100)))
    begun = time.process_time()
    workload = read_workload("marginals(<=3)", domain)
    assert time.process_time() - begun < 3
    assert len(workload.terms) == 166_750
    assert workload.queries == 100 * 10 + 4_950 * 100 + 161_700 * 1000
    assert read_workload("marginals(<=3)", domain) is workload


def test_more_tables_than_memory_holds_are_refused_before_they_are_made() -> None:
    domain = Domain(tuple(Boolean(f"c{i}") for i in range(100)))
    with pytest.raises(PlanError, match="asks for 79,375,495 tables"):
        read_workload("marginals(<=5)", domain)


def test_closed_columns_are_asked_about_like_others() -> None:
    columns = (
        Boolean("vaccinated", closed=True),
        Categorical("code", values=("1", "2"), closed=True, misfits_to=1, as_numbers=True),
        Integer("age", lower=0, upper=3, missing_cell=True, closed=True),
    )
    workload = read_workload('identity("vaccinated") x prefix("age") + marginal("code")', Domain(columns))
    assert workload.shape == (2, 2, 5)
    assert [dict(t.factors) for t in workload.terms] == [{0: Identity(2), 2: Prefix(5)}, {1: Identity(2)}]
    assert list(workload.terms[1].factors[1].phrases(columns[1])) == ["code = 1", "code = 2"]
