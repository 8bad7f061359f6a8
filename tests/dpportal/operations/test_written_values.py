"""Values that were written into SQLite's file in another form than the portal's are named."""

from __future__ import annotations

import pytest
from django.db import connection, transaction
from django.utils import timezone

from dpportal.datasets.models import Dataset
from dpportal.history import imprints
from dpportal.operations import verification, written_values

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has types for them"),
]


def changed(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA defer_foreign_keys = on")
        cursor.execute(statement)


def named(number: int, column: str, table: str) -> str:
    return (
        f"{number} values in {column} of the table {table} are in a form that the portal does not write: they were "
        "written past it."
    )


def test_all_that_the_portal_writes_has_its_form(dataset, curator):
    for whole in (True, False):
        curator.last_login = timezone.now().replace(microsecond=0 if whole else 120_000)
        curator.save()
        assert list(written_values.strange()) == []


@pytest.mark.parametrize(
    "form",
    [
        "upper(id)",
        "substr(id, 1, 8) || '-' || substr(id, 9)",
        "CAST(id AS BLOB)",
        "id || ' '",
        "id || char(0)",
    ],
)
def test_an_identifier_in_another_form(dataset, form):
    assert dataset.pk.hex != dataset.pk.hex.upper()
    with transaction.atomic():
        changed(f"UPDATE datasets_dataset SET id = {form}")
        said = list(written_values.strange())
        assert said == [named(1, "id", "datasets_dataset")]
        assert set(said) <= set(verification.problems([]))
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    "form",
    [
        "replace(date_joined, ' ', 'T')",
        "date_joined || '+05:00'",
        "date_joined || 'Z'",
        "date_joined || char(0)",
        "substr(date_joined, 1, 19) || '.'",
        "substr(date_joined, 1, 19) || '.1'",
        "substr(date_joined, 1, 10) || ' 24:00:00'",
        "'x'",
    ],
)
def test_a_time_in_another_form(curator, form):
    changed(f"UPDATE accounts_user SET date_joined = {form} WHERE id = {curator.pk}")
    assert list(written_values.strange()) == [named(1, "date_joined", "accounts_user")]


@pytest.mark.parametrize(
    "form", ["'2026-12-15' || char(0)", "'2026-W51-2'", "'2026-02-30'", "'2026-2-3'", "''"]
)
def test_a_day_in_another_form(dataset, form):
    """A day that reads as none would have the sweep erase records that nobody set a date for."""
    changed("UPDATE datasets_dataset SET erase_on = '2026-12-15'")
    assert list(written_values.strange()) == []
    changed(f"UPDATE datasets_dataset SET erase_on = {form}")
    assert list(written_values.strange()) == [named(1, "erase_on", "datasets_dataset")]


def test_an_identifier_that_refers_to_another_row(dataset):
    with transaction.atomic():
        changed("UPDATE datasets_conversion SET dataset_id = upper(dataset_id)")
        assert list(written_values.strange()) == [named(1, "dataset_id", "datasets_conversion")]
        transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("column", "form"), [("is_active", "2"), ("is_active", "'yes'"), ("first_name", "x'41'")]
)
def test_a_value_of_another_kind(curator, column, form):
    changed(f"UPDATE accounts_user SET {column} = {form} WHERE id = {curator.pk}")
    assert list(written_values.strange()) == [named(1, column, "accounts_user")]


@pytest.mark.parametrize(
    "text", [' ["age"]', '["age" ]', '{"name": 1, "name": 2}', '["\u00e4"]', "[1.50]", '["age"', "x"]
)
def test_json_that_the_portal_would_write_otherwise(dataset, text):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE datasets_dataset SET one_row_columns = %s", ['["age", "\\u00e4", 1.5]'])
        assert list(written_values.strange()) == []
        cursor.execute("PRAGMA ignore_check_constraints = on")
        cursor.execute("UPDATE datasets_dataset SET one_row_columns = %s", [text])
        cursor.execute("PRAGMA ignore_check_constraints = off")
    assert list(written_values.strange()) == [named(1, "one_row_columns", "datasets_dataset")]


def test_a_row_that_is_there_twice_is_named_by_the_history_too(dataset):
    with transaction.atomic():
        columns = ", ".join(f'"{field.column}"' for field in Dataset._meta.concrete_fields[1:])
        changed("DROP INDEX one_original_of_an_owner")
        changed(
            f"INSERT INTO datasets_dataset (id, {columns}) SELECT upper(id), {columns} FROM datasets_dataset"
        )
        twice = f"dataset {dataset.pk} is there twice: one of them was written past the portal."
        assert list(imprints.differences()) == [twice]
        transaction.set_rollback(True)
