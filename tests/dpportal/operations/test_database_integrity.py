"""SQLite's file is asked whether it agrees with itself."""

from __future__ import annotations

import pytest
from django.db import connection, transaction

from dpportal.operations import database_integrity

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="a file's indexes"),
]


def test_a_row_that_names_one_that_is_gone_is_named(dataset):
    assert list(database_integrity.contradictions()) == []
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("UPDATE datasets_dataset SET owner_id = 12345")
            cursor.execute("SELECT rowid FROM datasets_dataset")
            [(row,)] = cursor.fetchall()
        said = list(database_integrity.contradictions())
        transaction.set_rollback(True)
    assert said == [
        f"Row {row} of the table datasets_dataset names a row of accounts_user that is not there."
    ]
