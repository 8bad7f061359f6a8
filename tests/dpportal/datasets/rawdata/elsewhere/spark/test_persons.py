"""Whose rows belong together is the same in Spark as in a file, and their order does not decide which of them count."""

from __future__ import annotations

import pytest

from dpportal.datasets.rawdata import Persons, ReadOptions, fit_table
from dpportal.datasets.rawdata.elsewhere.looking import REASONS, reasons_statement, rows_statement
from dpportal.datasets.rawdata.elsewhere.spark import Spark
from dpportal.datasets.rawdata.elsewhere.statement import Source
from dpportal.datasets.rawdata.elsewhere.types import TYPES
from mechanisms.domain import Attribute, Boolean, Domain, Integer
from tests.dpportal.datasets.rawdata.elsewhere import twins
from tests.dpportal.datasets.rawdata.elsewhere.test_fit import by_reason
from tests.dpportal.datasets.rawdata.elsewhere.test_persons import PEOPLE, every_letter
from tests.dpportal.datasets.rawdata.elsewhere.twins import both
from tests.dpportal.datasets.rawdata.test_fit import DOMAIN, NAMES, OPTIONS, PERSONS, ROWS

pytestmark = pytest.mark.spark
DIGIT = Domain((Integer("x", lower=0, upper=9),))


@pytest.mark.parametrize("ignore_case", [False, True])
def test_persons_are_the_same_in_spark(spark, tmp_path, ignore_case):
    """One row of each counts, so the number that counts tells who is one person: in the end of every letter."""
    people = [*PEOPLE, *(every_letter() if ignore_case else [])]
    columns = {"who": ("text", people), "x": ("int4", ["1"] * len(people))}
    persons = Persons("who", 1, ignore_case)
    theirs, ours = both(spark, tmp_path, columns, DIGIT, ReadOptions(), persons=persons)
    assert theirs == ours


def test_of_each_person_as_many_rows_as_declared_count_the_same_in_every_table(spark):
    people = [f"p{i % 7}" for i in range(70)]
    columns = {"who": ("text", people), "x": ("int4", [str(i % 10) for i in range(70)])}
    columns |= {"y": ("int4", [str(i % 10) for i in range(70)]), "z": ("bool", ["true"] * 69 + [None])}
    domain = Domain((*DIGIT.attributes, Integer("y", lower=0, upper=9), Boolean("z", closed=True)))
    spark.fill(columns)
    found = spark.counts(columns, domain, [("x",), ("y",), ("x", "y")], ReadOptions(), Persons("who", 3))
    x, y, both_of = found[:10], found[10:20], found[20:].reshape(10, 10)
    assert x.sum() == 21 and (x == y).all() and (both_of.diagonal() == x).all()


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
    values = zip(*ROWS, strict=True)
    columns = {name: ("text", list(texts)) for name, texts in zip(NAMES, values, strict=True)}
    theirs = fit_table(twins.stored(tmp_path, columns), DOMAIN, OPTIONS, PERSONS)
    spark.fill(columns)
    source = Source(spark.dialect, spark.table, dict.fromkeys(NAMES, TYPES["text"]))
    found = dict(spark.rows(reasons_statement(source, DOMAIN, OPTIONS)))
    for place, column in enumerate(theirs.columns):
        ours = [found.get(place * len(REASONS) + reason, 0) for reason in range(len(REASONS))]
        assert ours == by_reason(column), column.column
    leaving: list[Attribute] = [a for a in DOMAIN.attributes if a.leaves_out]
    rows = dict(spark.rows(rows_statement(source, leaving, OPTIONS, PERSONS)))
    assert theirs.persons
    told = (
        theirs.persons.persons,
        theirs.rows,
        theirs.left_out,
        theirs.persons.beyond,
        theirs.persons.without,
    )
    assert tuple(rows[place] for place in range(5)) == told
