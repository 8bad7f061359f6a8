"""What goes wrong with a table elsewhere alike in whatever engine: each engine's tests run these, and their own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

import pytest

from dpportal.accounts.models import Role, User
from dpportal.budgets.models import Budget
from dpportal.datasets import attach_table
from dpportal.datasets.models import Dataset
from dpportal.releases import execution
from dpportal.releases.models import Release
from dpportal.tables.connections.models import Connection, SharedTable
from dpportal.tables.engines import credentials
from dpportal.tables.engines.server import Encryption
from tests.dpportal import building
from tests.dpportal.tables.connections.conftest import connected

# Views in which a row of one person decides on others', by why that is.
SHIFTS = {
    "limit": "SELECT colour, age FROM health.visits ORDER BY age LIMIT 10",
    "window": "SELECT colour, row_number() OVER (ORDER BY age) AS age FROM health.visits",
    "aggregate": "SELECT colour, max(age) AS age FROM health.visits GROUP BY colour",
    "join": "SELECT v.colour, v.age FROM health.visits AS v INNER JOIN health.visits AS w ON v.age = w.age",
    "union": "SELECT colour, age FROM health.visits UNION ALL SELECT colour, age FROM health.visits",
    "subquery": "SELECT colour, age FROM health.visits WHERE age > (SELECT avg(age) FROM health.visits)",
}


def released(dataset: Dataset) -> Release:
    release = building.requested_release(dataset)
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    return release


def credential_follows(connection: Connection) -> None:
    """Whoever runs the portal writes the credential for where the connection leads now; the test undoes it."""
    fields = json.loads(os.environ[credentials.variable("register")])
    fields |= {"host": connection.host, "port": connection.port}
    os.environ[credentials.variable("register")] = json.dumps(fields)


def accepted(dataset: Dataset) -> None:
    """The dataset with what its connection leads to now, on an administrator's word."""
    mark = attach_table.difference(dataset).mark
    administrator = User.objects.get(role=Role.ADMINISTRATOR)
    attach_table.follow(dataset, administrator, mark=mark, reason="The same people.")
    dataset.refresh_from_db()


class Failing:
    """A message, the reservation void, nothing spent."""

    def failed(self, dataset: Dataset) -> str:
        release = released(dataset)
        budget = Budget.of(dataset)
        assert (budget.spent, budget.reserved) == (0, 0) and release.state == Release.State.FAILED
        assert not release.measurement
        return release.job.failure

    def accept(self, dataset: Dataset) -> None:
        """An administrator's word for what stands in the place of the table now."""
        SharedTable.objects.filter(pk=dataset.source_id).update(vouched="Each row is of one person.")
        dataset.source.refresh_from_db()
        accepted(dataset)

    def limited(self, dataset: Dataset, **fields: object) -> None:
        Connection.objects.filter(pk=dataset.source.connection_id).update(**fields)
        dataset.source.connection.refresh_from_db()
        credential_follows(dataset.source.connection)


class Refusals(Failing):
    """What every engine's tests run."""

    def test_a_credential_that_is_not_there(self, elsewhere, monkeypatch):
        monkeypatch.delenv("DPPORTAL_CREDENTIAL_REGISTER")
        assert "DPPORTAL_CREDENTIAL_REGISTER" in self.failed(elsewhere)

    def test_a_server_that_does_not_answer(self, elsewhere):
        self.limited(elsewhere, port=1)
        assert "does not answer" in self.failed(elsewhere)

    def test_a_table_that_is_not_offered_any_more(self, elsewhere):
        self.limited(elsewhere, all_curators=False)
        assert "not offered" in self.failed(elsewhere)


class ByExtra(Refusals):
    """Of an engine whose client is an extra. client: a module of it; extra: the file that names it."""

    client: str
    extra: str

    def test_more_rows_than_are_allowed(self, elsewhere):
        self.limited(elsewhere, most_rows=299)
        assert "more rows for this than the connection allows (299)" in self.failed(elsewhere)

    def test_more_bytes_than_are_allowed(self, elsewhere):
        self.limited(elsewhere, most_bytes=100)
        assert "the connection allows (100\xa0bytes)" in self.failed(elsewhere)

    def test_a_server_that_is_not_encrypted_as_declared(self, elsewhere):
        self.limited(elsewhere, encryption=Encryption.VERIFIED)
        assert "not as encrypted as it is declared" in self.failed(elsewhere)

    def test_a_client_that_is_not_installed(self, elsewhere, monkeypatch):
        monkeypatch.setitem(sys.modules, self.client, None)
        assert self.extra in self.failed(elsewhere)

    @pytest.fixture
    def endless(self, connection, curator, administrator) -> Callable[[int, str], Dataset]:
        """A dataset of an endless query of a server at another port, which may run as long as it likes."""

        def of(port: int, query: str) -> Dataset:
            connection.pk, connection.name, connection.port = None, "Other", port
            connection.most_rows, connection.seconds = 10**15, 600
            connection.save()
            credential_follows(connection)
            table = SharedTable.objects.create(
                connection=connection, title="Endless", query=query, vouched="x"
            )
            return building.granted(connected(table, curator), administrator)

        return of
