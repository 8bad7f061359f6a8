"""The first person's record, which was read as names of columns, leaves every table of the database."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.approvals import services as approvals
from dpportal.approvals.models import Approval
from dpportal.budgets import requests, second_person
from dpportal.budgets.models import Budget, BudgetRequest
from dpportal.budgets.requests import PricedDraft
from dpportal.charts.area_map import Areas
from dpportal.datasets import area_map, dead_rows, fill_column, protection_change, records, services
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.left_traces import LeftTrace
from dpportal.datasets.models import Dataset
from dpportal.datasets.protection import Protection
from dpportal.jobs.memoised import StoredQuestion
from dpportal.releases import services as releases
from dpportal.releases.models import Release
from dpportal.releases.products.queries import strategies
from dpportal.streams.models import Stream
from dpportal.value_choices import second_person as choices, services as values
from mechanisms.accounting import Definition
from tests.dpportal import building
from tests.dpportal.streams.building import draft_stream

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

NUMBER, NAME = "7101153", "Anna_Canary"
CANARIES = (NUMBER, NAME, "Anna Canary")
PROTECTED = {"neighbours": "add-remove", "unit_column": NAME, "max_rows": 2, "ignore_case": False}


def people(rows: int = 80) -> bytes:
    """Without a line of names: a number of each person, and one of two texts."""
    lines = [f"{int(NUMBER) + 37 * place},{NAME if place % 2 else 'Bob'}" for place in range(rows)]
    return "\n".join([f"{NUMBER},{NAME}", *lines[1:]]).encode() + b"\n"


def told() -> list[tuple[str, str]]:
    """Where any table has a canary, sealed values as they are stored."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                texts = {name: _text(value) for name, value in zip(names, row, strict=True)}
                found |= {(table, n) for n, text in texts.items() if any(c in text for c in CANARIES)}
    return sorted(found)


def _text(value: object) -> str:
    return bytes(value).decode("latin-1") if isinstance(value, bytes | memoryview) else str(value)


def read(dataset: Dataset, curator, **options: object) -> None:
    """As the page “How this file is read” does it."""
    dataset.refresh_from_db()
    services.change_parse_options(dataset, replace(records.options_of(dataset), **options), curator)
    dataset.refresh_from_db()
    if dataset.is_converting:
        CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()


@pytest.fixture
def misread(client, curator) -> Dataset:
    """Its first record was read as the names of its columns; nothing was done with it."""
    client.force_login(curator)
    dataset = building.uploaded(client, people())
    read(dataset, curator, header=True, header_lines=1)
    assert [column["name"] for column in dataset.columns] == [NUMBER, NAME]
    return dataset


@pytest.fixture
def used(misread, client, curator) -> Dataset:
    """All was done with it that keeps names of columns, and of what is confirmed nothing."""
    dataset = misread
    services.confirm_one_row(dataset, [NUMBER, NAME], curator)
    for name in (NUMBER, NAME):
        fill_column.fill(dataset, name, curator)
    area_map.declare_areas(dataset, NAME, Areas(1, 1, {"Bob": []}, ""), "", curator)
    draft = _draft(dataset, curator)
    stream = draft_stream(dataset, name=f"By {NAME}", column=NAME, cells=[0])
    budget = Budget.for_planning(dataset)
    priced = PricedDraft(draft.proposed_title, Decimal("0.1"), budget.definition, NAME, "/")
    assert requests.ask(dataset, "please", curator, priced)
    for each in (draft, stream):
        second_person.ask_to_spend(each, budget, "reviewed", f"/{NAME}", curator)
    plan = values.plan_of(dataset, Decimal("0.1"), Decimal("1e-7"))
    approvals.ask(
        choices._question(dataset, NAME, plan, "reviewed", "00000000-0000-0000-0000-000000000001"), curator
    )
    now = Protection(unit_column=NAME)
    protection_change.ask(dataset, PROTECTED, now, curator)
    domain = dataset.current_domain().domain()
    strategies.STRATEGIES.ask(strategies.question("p-identity", domain, "marginals(1)", Definition.PURE))
    services.declare_unit(dataset, **PROTECTED)
    building.deliver_mail()
    return dataset


def _draft(dataset: Dataset, curator) -> Release:
    return Release.objects.create(
        dataset=dataset,
        created_by=curator,
        columns=[NUMBER, NAME],
        mechanism="laplace-histogram",
        parameters={"within_bins": "smooth", "of": {NAME: ["Bob"]}},
        amount=Decimal("0.1"),
        people=80,
    )


KEEPERS = {
    "accounts_auditentry", "approvals_approval", "budgets_budgetrequest", "datasets_areamap", "datasets_dataset",
    "datasets_attributedeclaration", "datasets_domainversion", "jobs_storedquestion", "releases_release",
    "streams_stream",
}  # fmt: skip


def test_the_search_finds_all_that_keeps_names_but_the_record(used):
    assert {table for table, _column in told()} == KEEPERS - {"accounts_auditentry"}
    assert AuditEntry.objects.filter(action="confirmed one row a person").get().detail.endswith("1, 2")
    assert KEEPERS - {"accounts_auditentry"} <= dead_rows.tables()


def test_after_the_names_are_corrected_and_after_erasing_no_table_has_any(used, curator):
    read(used, curator, header=False)
    assert told() == [] and LeftTrace.objects.exists()
    assert [column["name"] for column in used.columns] == ["column_1", "column_2"]
    services.erase(used, curator)
    assert told() == []


def test_after_erasing_alone_names_that_nothing_declares_are_gone(used, curator):
    services.declare_unit(used, **{**PROTECTED, "unit_column": ""})
    services.erase(used, curator)
    assert told() == [] and LeftTrace.objects.exists()
    used.refresh_from_db()
    assert [column["name"] for column in used.columns] == ["column_1", "column_2"]


def test_a_draft_that_was_renamed_or_deleted_leaves_no_name_behind(misread, client, curator):
    """In no line of the record, which stays for good, and in no request for a second person."""
    draft = _draft(misread, curator)
    second_person.ask_to_spend(draft, Budget.for_planning(misread), "reviewed", "/x", curator)
    releases.discard(draft)
    renamed = {"title": "Mine"}
    assert (
        client.post(reverse("releases:rename", args=[_draft(misread, curator).pk]), renamed).status_code
        == 302
    )
    read(misread, curator, header=False)
    services.erase(misread, curator)
    assert told() == []


def test_what_was_answered_of_the_old_names_is_asked_anew(used, curator):
    read(used, curator, header=False)
    assert used.one_row_columns == used.filled_columns == []
    assert used.asks_for_unit and used.current_domain().unit_column == ""
    asked = BudgetRequest.objects.get()
    assert (asked.state, asked.reason, asked.title, asked.amount) == ("waiting", "please", "", None)
    assert {each.state for each in Approval.objects.all()} == {"expired"}
    assert not StoredQuestion.objects.filter(answered_by="Optimisation").exists()


def test_the_wizards_ask_for_the_columns_of_such_drafts_again(used, client, curator):
    read(used, curator, header=False)
    release, stream = Release.objects.get(), Stream.objects.get()
    assert (release.columns, release.parameters, release.mechanism, release.people) == ([], {}, "", 80)
    assert stream.name == str(used) and (stream.column, stream.cells) == ("?", [])
    for page in (reverse("releases:review", args=[release.pk]), reverse("streams:review", args=[stream.pk])):
        answer = client.get(page, follow=True)
        assert answer.status_code == 200 and answer.redirect_chain
        assert answer.request["PATH_INFO"] != page


def test_a_draft_of_other_columns_stays_as_it_is(misread, curator):
    kept = Release.objects.create(
        dataset=misread, created_by=curator, title="Of nothing", people=80, amount=Decimal("0.2")
    )
    read(misread, curator, header=False)
    kept.refresh_from_db()
    assert kept.title == "Of nothing"


def test_columns_that_a_release_was_paid_for_keep_their_names(dataset, curator, administrator):
    building.confirm(building.complete_draft(building.granted(dataset, administrator)))
    Release.objects.get().job.delete()
    services.erase(dataset, curator)
    dataset.refresh_from_db()
    assert [column["name"] for column in dataset.columns] == ["colour", "age"]
