"""Whose rows belong together is the same in an engine as in a file, and of each person as many count as declared."""

from __future__ import annotations

import pytest

from dpportal.tables import Persons, ReadOptions
from mechanisms.domain import Boolean, Categorical, Domain
from tests.dpportal.tables.pushdown import laws
from tests.dpportal.tables.pushdown.twins import both


@pytest.mark.postgres
@pytest.mark.parametrize("ignore_case", [False, True])
def test_persons_are_the_same_in_postgresql(postgres, tmp_path, ignore_case):
    laws.persons_are_the_same(postgres, tmp_path, ignore_case, most=(1, 2, 3))


@pytest.mark.postgres
def test_rows_that_name_nobody_are_left_out(postgres):
    laws.rows_that_name_nobody_are_left_out(postgres)


@pytest.mark.postgres
def test_every_letter_is_made_small_as_in_an_upload(postgres, tmp_path):
    laws.persons_are_the_same(postgres, tmp_path, True, laws.every_letter())


@pytest.mark.postgres
def test_of_each_person_as_many_rows_as_declared_count_the_same_in_every_table(postgres):
    assert len(laws.as_many_rows_as_declared_count_the_same_in_every_table(postgres, draws=20)) > 1


@pytest.mark.postgres
def test_each_row_of_a_person_counts_equally_often(postgres):
    laws.each_row_counts_equally_often(postgres)


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
