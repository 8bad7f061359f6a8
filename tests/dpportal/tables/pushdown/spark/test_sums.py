"""Sums of columns by groups in Spark are those of an upload."""

from __future__ import annotations

import pytest

from tests.dpportal.tables.pushdown import sums

pytestmark = pytest.mark.spark


def test_sums_are_those_of_an_upload(spark, tmp_path):
    sums.are_those_of_an_upload(spark, tmp_path)


def test_sums_are_those_of_a_count_by_hand(spark):
    sums.are_those_of_a_count_by_hand(spark)


def test_the_same_few_rows_of_each_person_are_in_every_sum(spark):
    sums.count_few_rows_of_each_person(spark)


def test_sums_of_cells_are_those_of_an_upload(spark, tmp_path):
    sums.of_cells_are_those_of_an_upload(spark, tmp_path)


def test_sums_of_cells_are_of_the_same_few_rows_of_each_person(spark):
    sums.of_cells_are_of_the_same_few_rows(spark)
