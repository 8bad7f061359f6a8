"""Whose rows belong together is the same in an engine as in a file, and of each person as many count as declared."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from dpportal.datasets.rawdata import Persons, ReadOptions
from mechanisms.domain import Boolean, Categorical, Domain, Integer
from tests.dpportal.datasets.rawdata.elsewhere.twins import both

PEOPLE = [
    "Ann",
    "ann ",
    " ANN",
    "ann\u00a0",
    "Ἀθήνα",
    "ἀθήνα",
    "Straße",
    "STRASSE",
    "ÇA",
    "c\u0327a",
    "",
    " ",
    None,
    "7",
    "007",
]


def every_letter() -> list[str]:
    """A person for each letter that has another form, and one for that form."""
    letters = (chr(code) for code in range(1, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    changed = [c for c in letters if c not in "İΣ" and (c.lower() != c or c.upper() != c)]
    return [
        name for c in changed for name in (c, c.lower(), c.upper()) if unicodedata.is_normalized("NFC", name)
    ]


@pytest.mark.postgres
@pytest.mark.parametrize("ignore_case", [False, True])
def test_persons_are_the_same_in_postgresql(postgres, tmp_path, ignore_case):
    """With as many rows of each as there are of the most frequent but one, what counts tells who is one person."""
    columns = {"who": ("text", PEOPLE), "x": ("int4", ["1"] * len(PEOPLE))}
    domain = Domain((Integer("x", lower=0, upper=1),))
    for most in (1, 2, 3):
        persons = Persons("who", most, ignore_case)
        theirs, ours = both(postgres, tmp_path, columns, domain, ReadOptions(), persons=persons)
        assert theirs == ours


@pytest.mark.postgres
def test_every_letter_is_made_small_as_in_an_upload(postgres, tmp_path):
    """One row of each counts."""
    people = every_letter()
    columns = {"who": ("text", people), "x": ("int4", ["1"] * len(people))}
    domain = Domain((Integer("x", lower=0, upper=1),))
    theirs, ours = both(postgres, tmp_path, columns, domain, ReadOptions(), persons=Persons("who", 1, True))
    assert theirs == ours


@pytest.mark.postgres
def test_of_each_person_as_many_rows_as_declared_count_the_same_in_every_table(postgres):
    people = [f"p{i % 7}" for i in range(70)]
    columns = {"who": ("text", people), "x": ("int4", [str(i % 10) for i in range(70)])}
    columns |= {"y": ("int4", [str(i % 10) for i in range(70)]), "z": ("bool", ["true"] * 69 + [None])}
    domain = Domain(
        (Integer("x", lower=0, upper=9), Integer("y", lower=0, upper=9), Boolean("z", closed=True))
    )
    postgres.fill(columns)
    drawn = set()
    for _again in range(20):
        found = postgres.counts(
            columns, domain, [("x",), ("y",), ("x", "y")], ReadOptions(), Persons("who", 3)
        )
        x, y, both_of = found[:10], found[10:20], found[20:].reshape(10, 10)
        assert x.sum() == 21 and (x == y).all() and (both_of.diagonal() == x).all()
        drawn.add(tuple(x))
    assert len(drawn) > 1


@pytest.mark.postgres
def test_each_row_of_a_person_counts_equally_often(postgres):
    """Of 10 rows of a person 3 count: each row in 3 of 10 draws, within 5 standard errors over 2000 persons."""
    columns = {
        "who": ("int4", [str(i // 10) for i in range(20_000)]),
        "x": ("int4", [str(i % 10) for i in range(20_000)]),
    }
    postgres.fill(columns)
    domain = Domain((Integer("x", lower=0, upper=9),))
    found = postgres.counts(columns, domain, [("x",)], ReadOptions(), Persons("who", 3))
    assert found.sum() == 6000 and abs(found - 600).max() < 5 * (2000 * 0.3 * 0.7) ** 0.5


@pytest.mark.postgres
def test_rows_that_a_closed_column_leaves_out_are_as_if_not_there(postgres, tmp_path):
    columns = {"who": ("text", ["Ann"] * 10), "x": ("text", ["?"] * 9 + ["yes"]), "y": ("text", ["a"] * 10)}
    domain = Domain((Boolean("x", closed=True), Categorical("y", closed=True, values=("a",))))
    for persons in (None, Persons("who")):
        theirs, ours = both(
            postgres, tmp_path, columns, domain, ReadOptions(), tables=[("x", "y")], persons=persons
        )
        assert theirs == ours == [0, 1]


@pytest.mark.postgres
def test_a_collation_that_calls_texts_equal_changes_nothing(postgres):
    made = "CREATE COLLATION pg_temp.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
    postgres.connection.execute(made)
    postgres.connection.execute("DROP TABLE IF EXISTS pg_temp.twin")
    postgres.connection.execute("CREATE TEMP TABLE twin (x text COLLATE pg_temp.any_case)")
    postgres.connection.execute("INSERT INTO twin VALUES ('a'), ('A'), ('b')")
    domain = Domain((Categorical("x", values=("a", "b")),))
    columns = {"x": ("text", [])}
    assert postgres.counts(columns, domain, [("x",)], ReadOptions(), None).tolist() == [1, 1, 1]
    assert postgres.counts(columns, domain, [("x",)], ReadOptions(), Persons("x")).tolist() == [1, 1, 1]
