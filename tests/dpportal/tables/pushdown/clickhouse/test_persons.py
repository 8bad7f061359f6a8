"""Whose rows belong together is the same in ClickHouse as in a file, and of each person as many count as declared."""

from __future__ import annotations

import pytest

from dpportal.tables import Persons
from tests.dpportal.tables.pushdown import laws
from tests.dpportal.tables.test_fit import PERSONS

pytestmark = pytest.mark.clickhouse


@pytest.mark.parametrize("ignore_case", [False, True])
def test_persons_are_the_same_in_clickhouse(clickhouse, tmp_path, ignore_case):
    laws.persons_are_the_same(clickhouse, tmp_path, ignore_case, most=(1, 2, 3))


def test_every_letter_is_made_small_as_in_an_upload(clickhouse, tmp_path):
    laws.persons_are_the_same(clickhouse, tmp_path, True, laws.every_letter())


def test_rows_that_name_nobody_are_left_out(clickhouse):
    laws.rows_that_name_nobody_are_left_out(clickhouse)


def test_of_each_person_as_many_rows_as_declared_count_the_same_in_every_table(clickhouse):
    assert len(laws.as_many_rows_as_declared_count_the_same_in_every_table(clickhouse, draws=10)) > 1


def test_each_row_of_a_person_counts_equally_often(clickhouse):
    laws.each_row_counts_equally_often(clickhouse)


@pytest.mark.parametrize("persons", [None, PERSONS, Persons("who", 2, True)])
def test_each_number_of_the_fit_is_that_of_an_upload(clickhouse, tmp_path, persons):
    laws.each_number_of_the_fit_is_that_of_an_upload(clickhouse, tmp_path, persons)
