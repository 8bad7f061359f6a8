"""What a workload asks, in words: every kind of query, weights, and long lists."""

from __future__ import annotations

import pytest

from dpportal.releases.products.queries.words import in_words
from mechanisms.matrix.workload.notation import KINDS

DIGEST = "ab" * 32
SAID = {
    "total": "All together",
    'identity("sex")': "Each cell of sex",
    'prefix("age")': "Running totals of age",
    'ranges("age")': "Every range of age",
    'width(7, "day")': "Every range of 7 neighbouring cells of day",
    'marginal("age", "sex")': "The table age × sex",
    "marginals(<=2)": "Every table of up to 2 of age, sex, day",
    'marginals(=2, "age", "sex")': "Every table of 2 of age, sex",
    f'uploaded("{DIGEST}")': "Queries from a file",
    f'uploaded("{DIGEST}", "age")': "Queries from a file, of age",
    'prefix("age") x identity("sex")': "Running totals of age, combined with each cell of sex",
    'total + 2.5 * identity("sex")': "All together; each cell of sex (weight 2.5)",
    " + ".join(['identity("sex")'] * 8): "; ".join(["Each cell of sex", *["each cell of sex"] * 5, "2 more"]),
}


@pytest.mark.parametrize(("text", "said"), SAID.items())
def test_a_workload_is_said_in_words(text, said):
    assert in_words(text, {name: name for name in ("age", "sex", "day")}) == said


def test_columns_have_their_names_for_readers():
    names = {"age": "Age in years", "sex": "sex"}
    assert in_words('marginal("age", "sex")', names) == "The table Age in years × sex"
    assert in_words("marginals(<=1)", names) == "Every table of up to 1 of Age in years, sex"


def test_no_kind_of_query_is_without_words():
    assert all(any(kind in text for text in SAID) for kind in KINDS)
