"""What an administrator and a curator do with a table that lies elsewhere, by their pages."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import domain_fit, domain_fit_job, records, services, sharing
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset, Fit, Right
from dpportal.releases import execution
from dpportal.tables.connections.models import Connection, SharedTable
from mechanisms.domain import Categorical
from tests.dpportal import building
from tests.dpportal.tables.connections.conftest import PASSWORD, READER, connected
from tests.dpportal.tables.connections.refusals import released

pytestmark = pytest.mark.postgres


@pytest.fixture
def office(client, administrator):
    client.force_login(administrator)
    return client


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def said(answer) -> str:
    return " ".join(str(message) for message in answer.context["messages"])


class TestAdministrator:
    def form(self, connection, **fields) -> dict[str, object]:
        own = {
            "name": "Archive",
            "kind": "postgresql",
            "host": connection.host,
            "port": connection.port,
            "database": connection.database,
            "user": READER,
            "credential": "register",
            "encryption": "disable",
            "seconds": 60,
            "most_rows": 10**6,
            "most_bytes": 10**9,
            "all_curators": "on",
        }
        table = {"title": "Visits", "schema": "health", "table": "visits", "query": "", "is_offered": "on"}
        rows = {f"tables-0-{name}": value for name, value in table.items()}
        return {**own, "tables-TOTAL_FORMS": 1, "tables-INITIAL_FORMS": 0, **rows, **fields}

    def test_adds_a_connection_with_a_table(self, office, connection):
        answer = office.post(reverse("admin:connections_connection_add"), self.form(connection))
        assert answer.status_code == 302, answer.context["errors"]
        assert SharedTable.objects.get(connection__name="Archive").table == "visits"
        assert AuditEntry.objects.filter(action="added a connection").exists()

    @pytest.mark.parametrize(
        ("fields", "why"),
        [
            ({"tables-0-query": "SELECT 1"}, "not both"),
            ({"tables-0-table": ""}, "not both"),
            ({"credential": "../secret_key"}, "Enter a valid value"),
            ({"seconds": 10**6}, "less than or equal"),
            ({"user": ""}, "PostgreSQL needs this"),
            ({"kind": "clickhouse", "credential": ""}, "ClickHouse needs this"),
            ({"kind": "spark", "credential": ""}, "Spark needs this"),
            ({"kind": "spark", "encryption": "require"}, "always verified"),
        ],
    )
    def test_is_told_what_is_wrong(self, office, connection, fields, why):
        answer = office.post(reverse("admin:connections_connection_add"), self.form(connection, **fields))
        assert answer.status_code == 200 and why in answer.content.decode()

    @pytest.mark.parametrize(
        ("kind", "schema"), [("postgresql", "public"), ("spark", None), ("clickhouse", None)]
    )
    def test_finds_the_schema_that_the_engine_usually_has(self, office, connection, kind, schema):
        Connection.objects.update(kind=kind)
        page = office.get(reverse("admin:connections_connection_change", args=[connection.pk]))
        [form] = page.context["inline_admin_formsets"][0].formset.forms
        assert form["schema"].value() == (schema or "")

    def test_deletes_several_and_each_is_recorded(self, office, connection):
        chosen = {"action": "delete_selected", "_selected_action": [connection.pk], "post": "yes"}
        office.post(reverse("admin:connections_connection_changelist"), chosen)
        assert not Connection.objects.exists()
        assert AuditEntry.objects.filter(action="deleted a connection").count() == 1

    def test_tests_it(self, office, visits, owner):
        SharedTable.objects.create(connection=visits.connection, title="Nothing", table="nothing")
        answer = self._tested(office, visits.connection)
        assert "PostgreSQL 1" in said(answer) and "Visits: 4 columns." in said(answer)
        assert "Nothing: The table is not there any more" in said(answer)

    def test_says_that_a_table_moved(self, office, elsewhere, owner):
        owner.execute("ALTER TABLE health.visits RENAME TO contacts")
        chosen = {"action": "follow_tables", "_selected_action": [elsewhere.pk]}
        answer = office.post(reverse("admin:datasets_dataset_changelist"), chosen, follow=True)
        assert "not there any more" in said(answer)
        SharedTable.objects.update(table="contacts")
        shown = office.post(reverse("admin:datasets_dataset_changelist"), chosen)
        [difference] = shown.context["differences"]
        assert "contacts" in shown.content.decode() and not AuditEntry.objects.filter(
            action="followed a table"
        )
        word = {**chosen, f"mark-{elsewhere.pk}": difference.mark, "reason": "Renamed."}
        answer = office.post(reverse("admin:datasets_dataset_changelist"), word, follow=True)
        assert "is counted there now" in said(answer)
        assert AuditEntry.objects.filter(
            action="followed a table", detail__endswith="reason: Renamed."
        ).exists()

    def _tested(self, office, connection):
        chosen = {"action": "test_connection", "_selected_action": [connection.pk]}
        return office.post(reverse("admin:connections_connection_changelist"), chosen, follow=True)

    def test_no_password_is_in_the_database_or_on_a_page(self, office, elsewhere):
        page = office.get(
            reverse("admin:connections_connection_change", args=[elsewhere.source.connection_id])
        )
        assert PASSWORD not in page.content.decode()
        assert PASSWORD not in str(list(Connection.objects.values()))


class TestCurator:
    def test_connects_a_table_and_releases_from_it(self, desk, visits, administrator):
        assert reverse("datasets:connect_table") in desk.get(reverse("datasets:upload")).content.decode()
        assert "Visits (Register)" in desk.get(reverse("datasets:connect_table")).content.decode()
        answer = desk.post(reverse("datasets:connect_table"), {"table": visits.pk, "name": ""})
        dataset = Dataset.objects.get()
        assert answer.url == reverse("datasets:home", args=[dataset.pk])
        assert "Waiting for a worker" in desk.get(answer.url).content.decode()
        CONVERSIONS.run(dataset.pk)
        page = desk.get(answer.url).content.decode()
        assert "no row comes here" in page and "notes (<code>jsonb</code>)" in page

    def test_chooses_among_what_is_offered_alone(self, desk, visits):
        visits.is_offered = False
        visits.save()
        assert "No table is offered to you" in desk.get(reverse("datasets:connect_table")).content.decode()
        assert desk.post(reverse("datasets:connect_table"), {"table": visits.pk}).status_code == 422
        assert not Dataset.objects.exists()

    def test_is_told_where_rows_would_be_needed(self, desk, elsewhere):
        assert desk.get(reverse("datasets:first_rows", args=[elsewhere.pk])).status_code == 302
        filled = desk.post(
            reverse("datasets:fill_column", args=[elsewhere.pk, 0]), {"public": "on"}, follow=True
        )
        assert "has no rows of this dataset" in said(filled)
        stream = desk.get(reverse("streams:start", args=[elsewhere.pk]), follow=True)
        assert "not from a table that lies elsewhere" in said(stream)

    def test_declares_how_texts_are_read_and_nothing_of_a_file(self, desk, elsewhere):
        address = reverse("datasets:reading", args=[elsewhere.pk])
        page = desk.get(address).content.decode()
        assert 'name="missing"' in page and 'name="delimiter"' not in page
        form = {"strip": "kept", "decimal": ".", "thousands": "none", "date_format": "iso", "missing": "red"}
        assert desk.post(address, form).status_code == 302
        elsewhere.refresh_from_db()
        release = building.requested_release(elsewhere)
        execution.RELEASES.run(release.pk)
        release.refresh_from_db()
        by_colour = records.stored_counts(release.true_counts).reshape(4, 10).sum(axis=1)
        assert by_colour.tolist() == [0, 100, 100, 100]

    def test_looks_again_at_how_the_table_fits_after_it_grew(self, desk, elsewhere, owner):
        address = reverse("datasets:fit", args=[elsewhere.pk])
        for rows in (300, 301):
            desk.post(address)
            domain_fit_job.FITS.run(elsewhere.pk)
            page = desk.get(address).content.decode()
            assert f">{rows}<" in page and "only numbers of rows come here" in page
            owner.execute("INSERT INTO health.visits VALUES ('red', 20, 'new')")

    def test_is_told_why_nobody_can_look_at_the_fit(self, desk, elsewhere, owner):
        address = reverse("datasets:fit", args=[elsewhere.pk])
        desk.post(address)
        owner.execute("DROP TABLE health.visits")
        domain_fit_job.FITS.run(elsewhere.pk)
        assert "not there any more" in desk.get(address).content.decode()

    def test_is_told_at_once_what_cannot_be_counted_so(self, desk, connection, curator):
        query = "SELECT 20200101.5 AS x"
        table = SharedTable.objects.create(connection=connection, title="Days", query=query)
        dataset = connected(table, curator, declared=False)
        form = {
            "kind": "date",
            "lower": "2020-01-01",
            "upper": "2020-12-31",
            "step": "day",
            "misfits": "missing",
        }
        answer = desk.post(reverse("datasets:column", args=[dataset.pk, 0]), form)
        assert answer.status_code == 422 and "is not read as a date" in answer.content.decode()
        codebook = b'{"x": {"kind": "date", "lower": "2020-01-01", "upper": "2020-12-31", "step": "day"}}'
        file = {"codebook": SimpleUploadedFile("codebook.json", codebook)}
        answer = desk.post(reverse("datasets:codebook", args=[dataset.pk]), file, follow=True)
        assert "is not read as a date" in said(answer)

    @pytest.mark.parametrize("page", ["home", "domain", "unit", "reading", "edit"])
    def test_every_page_of_it_opens(self, desk, elsewhere, page):
        assert desk.get(reverse(f"datasets:{page}", args=[elsewhere.pk])).status_code == 200

    @pytest.mark.parametrize("step", ["product", "columns", "method", "review"])
    @pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
    def test_every_step_of_a_release_opens(self, desk, elsewhere, step, neighbours):
        services.declare_unit(elsewhere, neighbours=neighbours, unit_column="", max_rows=1)
        draft = building.complete_draft(elsewhere)
        assert desk.get(reverse(f"releases:{step}", args=[draft.pk])).status_code == 200

    def test_disconnects_it_and_keeps_what_was_released(self, desk, elsewhere):
        release = building.requested_release(elsewhere)
        execution.RELEASES.run(release.pk)
        desk.post(reverse("datasets:erase", args=[elsewhere.pk]))
        elsewhere.refresh_from_db()
        assert elsewhere.state == Dataset.State.ERASED and elsewhere.releases.get().is_ready


class TestCoOwnerToWhomItIsNotOfferedAnyMore:
    """Sees neither how the table fits nor what was counted, though the right to the dataset is still theirs."""

    @pytest.fixture
    def theirs(self, client, elsewhere, curator, other_curator):
        """The desk of a co-owner, and a release; the owner may still use the connection."""
        sharing.share(elsewhere, other_curator.username, Right.OWN, curator)
        domain_fit.ask(elsewhere)
        domain_fit_job.FITS.run(elsewhere.pk)
        elsewhere.source.connection.curators.add(curator)
        Connection.objects.update(all_curators=False)
        client.force_login(other_curator)
        return client, released(elsewhere)

    def test_cannot_look_at_the_fit(self, theirs, elsewhere):
        desk, _release = theirs
        address = reverse("datasets:fit", args=[elsewhere.pk])
        before = Fit.objects.values_list("fence", "queued_at").get()
        for answer in (desk.get(address, follow=True), desk.post(address, follow=True)):
            assert "not offered" in said(answer) and ">300<" not in answer.content.decode()
        assert Fit.objects.values_list("fence", "queued_at").get() == before

    def test_reads_on_no_review_how_many_rows_fit_nothing(self, theirs, elsewhere, curator):
        """Nor is asked about it: whether the question comes is an answer."""
        services.declare(elsewhere, "colour", Categorical("colour", values=("rouge",)))
        domain_fit.ask(elsewhere)
        domain_fit_job.FITS.run(elsewhere.pk)
        desk, _release = theirs
        review = reverse("releases:review", args=[building.complete_draft(elsewhere).pk])
        asked = [self.review_of(desk, review)]
        desk.force_login(curator)
        asked.append(self.review_of(desk, review))
        assert asked == [(False, False), (True, True)]

    def review_of(self, desk, review: str) -> tuple[bool, bool]:
        """Whether a review says how many rows fit nothing, and whether it asks to go on nevertheless."""
        page = desk.get(review)
        return "of the rows fit nothing declared" in page.content.decode(), "nevertheless" in page.context[
            "form"
        ].fields

    @pytest.mark.parametrize("page", ["compare", "compare_csv", "publish"])
    def test_sees_no_true_count(self, theirs, page):
        desk, release = theirs
        answer = desk.get(reverse(f"releases:{page}", args=[release.pk]), follow=True)
        assert page == "publish" or "not offered" in said(answer)
        assert not AuditEntry.objects.filter(action="viewed true counts").exists()

    def test_of_an_owner_both_are_shown(self, desk, elsewhere, theirs, curator):
        desk.force_login(curator)
        _desk, release = theirs
        assert ">300<" in desk.get(reverse("datasets:fit", args=[elsewhere.pk])).content.decode()
        assert desk.get(reverse("releases:compare", args=[release.pk])).status_code == 200


def test_the_portal_starts_without_what_speaks_to_other_engines():
    """Web servers and idle workers never load it."""
    looked = "import sys, django; django.setup(); import dpportal.urls, dpportal.celery; print(*sys.modules)"
    environment = {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    command = [sys.executable, "-c", looked]
    done = subprocess.run(
        command, env={**os.environ, **environment}, check=True, stdout=subprocess.PIPE, text=True
    )
    loaded = done.stdout.split()
    assert "dpportal.releases.execution" in loaded and not {
        "sqlglot",
        "psycopg",
        "pyspark",
        "clickhouse_connect",
    } & set(loaded)
