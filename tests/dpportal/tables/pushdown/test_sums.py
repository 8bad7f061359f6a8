"""Sums of columns by groups in PostgreSQL are those of an upload."""

from __future__ import annotations

import pytest

from tests.dpportal.tables.pushdown import sums

pytestmark = pytest.mark.postgres


def test_sums_are_those_of_an_upload(postgres, tmp_path):
    sums.are_those_of_an_upload(postgres, tmp_path)


def test_sums_are_those_of_a_count_by_hand(postgres):
    sums.are_those_of_a_count_by_hand(postgres)


def test_the_same_few_rows_of_each_person_are_in_every_sum(postgres):
    sums.count_few_rows_of_each_person(postgres)


def test_sums_of_cells_are_those_of_an_upload(postgres, tmp_path):
    sums.of_cells_are_those_of_an_upload(postgres, tmp_path)


def test_sums_of_cells_are_of_the_same_few_rows_of_each_person(postgres):
    sums.of_cells_are_of_the_same_few_rows(postgres)
