"""Whose rows belong together is the same in Spark as in a file, and their order does not decide which of them count."""

from __future__ import annotations

import pytest

from dpportal.tables import Persons, ReadOptions
from dpportal.tables.engines.spark.dialect import Spark
from tests.dpportal.tables.pushdown import laws
from tests.dpportal.tables.pushdown.laws import DIGIT
from tests.dpportal.tables.test_fit import PERSONS

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("ignore_case", [False, True])
def test_persons_are_the_same_in_spark(spark, tmp_path, ignore_case):
    """In the end of every letter."""
    people = [*laws.PEOPLE, *(laws.every_letter() if ignore_case else [])]
    laws.persons_are_the_same(spark, tmp_path, ignore_case, people)


def test_rows_that_name_nobody_are_left_out(spark):
    laws.rows_that_name_nobody_are_left_out(spark, draws=1, limits=(1,))


def test_of_each_person_as_many_rows_as_declared_count_the_same_in_every_table(spark):
    laws.as_many_rows_as_declared_count_the_same_in_every_table(spark)


@pytest.fixture
def register(spark):
    """The rows of 2000 persons, ten each, of which the first four are alike; and how three of each count."""
    columns = {
        "who": ("int4", [str(i // 10) for i in range(20_000)]),
        "x": ("int4", [str(max(i % 10 - 3, 0)) for i in range(20_000)]),
    }
    spark.fill(columns)

    def counted(lot: str, order: str = ""):
        spark.dialect = Spark(lot)
        table, spark.table = spark.table, f"(SELECT * FROM {spark.table} {order}) AS source"
        found = spark.counts(columns, DIGIT, [("x",)], ReadOptions(), Persons("who", 3))
        spark.table = table
        return found

    return counted


def test_each_row_of_a_person_counts_equally_often(register):
    """Each of ten rows in 3 of 10 draws, within 5 standard errors over 2000 persons, be it like others or not."""
    found = register("a lot")
    assert found.sum() == 6000
    assert abs(found[1:7] - 600).max() < 5 * (2000 * 0.3 * 0.7) ** 0.5
    assert abs(found[0] - 2400) < 5 * (2000 * 4 * 0.3 * 0.7) ** 0.5


def test_a_task_that_is_run_again_chooses_the_same_rows_whatever_their_order(register):
    again, other = register("a lot", "ORDER BY rand()"), register("another lot")
    assert register("a lot").tolist() == again.tolist() != other.tolist()


def test_each_number_of_the_fit_is_that_of_an_upload(spark, tmp_path):
    laws.each_number_of_the_fit_is_that_of_an_upload(spark, tmp_path, PERSONS)
