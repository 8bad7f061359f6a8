"""Sums of columns by groups in ClickHouse are those of an upload."""

from __future__ import annotations

import pytest

from tests.dpportal.tables.pushdown import sums

pytestmark = pytest.mark.clickhouse


def test_sums_are_those_of_an_upload(clickhouse, tmp_path):
    sums.are_those_of_an_upload(clickhouse, tmp_path)


def test_sums_are_those_of_a_count_by_hand(clickhouse):
    sums.are_those_of_a_count_by_hand(clickhouse)


def test_the_same_few_rows_of_each_person_are_in_every_sum(clickhouse):
    sums.count_few_rows_of_each_person(clickhouse)


def test_sums_of_cells_are_those_of_an_upload(clickhouse, tmp_path):
    sums.of_cells_are_those_of_an_upload(clickhouse, tmp_path)


def test_sums_of_cells_are_of_the_same_few_rows_of_each_person(clickhouse):
    sums.of_cells_are_of_the_same_few_rows(clickhouse)
