"""`manage.py verify` names sealed values of the database that somebody wrote over, past the portal."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from dpportal.accounts.factors import totp
from dpportal.accounts.models import AuthenticatorApp
from dpportal.operations import sealed_values
from tests.dpportal.history.test_chain import unguarded


def written_over(table: str, column: str) -> None:
    """All its values, by somebody who also puts the database's guards back."""
    with unguarded(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {column} = %s", [b"x"])


@pytest.fixture
def person_with_app(curator):
    totp.begin(curator)
    AuthenticatorApp.objects.update(secret="JBSWY3DPEHPK3PXP")
    return curator


def test_values_that_the_portal_sealed_are_no_finding(dataset, person_with_app):
    assert list(sealed_values.unopened()) == []


@pytest.mark.parametrize(
    "table, column", [("accounts_authenticatorapp", "secret"), ("datasets_dataset", "rows")]
)
def test_a_value_that_was_written_over_is_named_and_is_a_finding(dataset, person_with_app, table, column):
    written_over(table, column)
    out = io.StringIO()
    with pytest.raises(CommandError, match="finding"):
        call_command("verify", stdout=out)
    assert f"1 values of {table.replace('_', '.')}.{column} cannot be opened" in out.getvalue()
