"""The register of 300 rows from the curator’s choice to the true counts: the tests of each engine run these."""

from __future__ import annotations

import html
import json
from decimal import Decimal

import pytest
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.budgets.models import Budget
from dpportal.datasets import domain_fit_job, records, services
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from dpportal.tables.connections.models import SharedTable
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building
from tests.dpportal.tables.connections.conftest import connected
from tests.dpportal.tables.connections.refusals import released


class Register:
    """engine: how the engine calls itself; mapped: the type of the column that is a map, which no release can use."""

    engine: str
    mapped: str

    @pytest.fixture
    def chosen(self, visits, client, curator) -> Dataset:
        """What the curator made of the table, by the pages."""
        client.force_login(curator)
        offered = client.get(reverse("datasets:connect_table")).content.decode()
        assert f"Visits ({visits.connection.name})" in offered
        client.post(reverse("datasets:connect_table"), {"table": visits.pk, "name": ""})
        dataset = Dataset.objects.get()
        CONVERSIONS.run(dataset.pk)
        dataset.refresh_from_db()
        return dataset

    def test_a_curator_releases_what_the_upload_of_the_same_rows_counts(
        self, chosen, client, curator, administrator
    ):
        page = html.unescape(client.get(reverse("datasets:home", args=[chosen.pk])).content.decode())
        assert "no row comes here" in page and self.mapped in page
        colour = Categorical("colour", values=("red", "green", "blue"))
        services.declare_all(chosen, [colour, Integer("age", lower=0, upper=99, width=10)])
        services.confirm_one_row(chosen, ["patient"], curator)
        theirs = released(building.granted(chosen, administrator))
        ours = released(building.granted(building.stored_dataset(curator), administrator))
        assert theirs.state == ours.state == Release.State.READY, theirs.job.failure
        found = records.stored_counts(theirs.true_counts)
        assert found.tolist() == records.stored_counts(ours.true_counts).tolist() and found.sum() == 300
        assert Budget.of(chosen).spent == Decimal("0.1")
        read = json.loads(theirs.read_from)
        assert read["engine"].startswith(self.engine) and read["table"] == "Visits"
        # The day alone: how long it took to count tells how many rows there are.
        assert len(read["read_at"]) == len("2026-01-31")

    def test_of_each_person_as_many_rows_count_as_declared(self, elsewhere):
        services.declare_unit(elsewhere, neighbours="add-remove", unit_column="patient", max_rows=2)
        assert records.stored_counts(released(elsewhere).true_counts).sum() == 60

    def test_a_curator_sees_in_numbers_how_the_table_fits(self, elsewhere, client, curator):
        services.declare(elsewhere, "age", Integer("age", lower=10, upper=49, width=10))
        services.declare_unit(elsewhere, neighbours="add-remove", unit_column="patient", max_rows=4)
        client.force_login(curator)
        address = reverse("datasets:fit", args=[elsewhere.pk])
        client.post(address)
        domain_fit_job.FITS.run(elsewhere.pk)
        page = client.get(address).content.decode()
        assert all(f">{number}<" in page for number in (300, 30, 150, 180, 120))

    def test_a_query_can_be_offered(self, connection, curator):
        query = "SELECT colour, age, patient FROM health.visits WHERE age < 50 -- young"
        table = SharedTable.objects.create(connection=connection, title="Young", query=query)
        dataset = connected(table, curator)
        assert [(c["name"], c["type"]) for c in dataset.columns] == [
            ("colour", "text"),
            ("age", "int4"),
            ("patient", "text"),
        ]

    def test_an_administrator_tests_a_connection(self, client, administrator, visits):
        SharedTable.objects.create(connection=visits.connection, title="Nothing", table="nothing", schema="")
        client.force_login(administrator)
        chosen = {"action": "test_connection", "_selected_action": [visits.connection_id]}
        answer = client.post(reverse("admin:connections_connection_changelist"), chosen, follow=True)
        said = " ".join(str(message) for message in answer.context["messages"])
        assert self.engine in said and "Visits: 4 columns." in said
        assert "Nothing: The table is not there any more" in said
        tested = AuditEntry.objects.get(action="tested a connection")
        assert tested.detail == "it answers; tables that can be counted: 1 of 2"
