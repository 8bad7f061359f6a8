"""Whoever changes rows for the moment in which a worker reads them has no noise left out and no false file signed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

import pytest
from django.db import connection, models
from django.test.utils import CaptureQueriesContext

from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.datasets.models import AttributeDeclaration, Dataset
from dpportal.history import imprints
from dpportal.history.imprints import ForgedRowError
from dpportal.history.models import Imprint
from dpportal.jobs.claims import JobState
from dpportal.operations import verification
from dpportal.releases import tasks
from dpportal.releases.as_confirmed import described_release
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Artifact, Release, ReleaseJob
from dpportal.releases.services import ReleaseError
from dpportal.streams.downloads import DOWNLOADS
from dpportal.streams.models import Period, SeriesBundle, SeriesFile
from dpportal.streams.vault import VaultError
from dpportal.value_choices.disclosure import require_texts
from dpportal.value_choices.execution import CHOICES
from dpportal.value_choices.models import ValueChoice
from tests.dpportal import building
from tests.dpportal.history.test_chain import unguarded
from tests.dpportal.streams import building as streams
from tests.dpportal.streams.test_publishing import publish

pytestmark = pytest.mark.django_db
WORDS = "was changed in the database past the portal, so nothing is drawn or written by it"


@contextmanager
def forged(row: models.Model, **values: object) -> Iterator[None]:
    """A row that somebody changes past the portal, and puts back."""
    rows = models.QuerySet(type(row)).filter(pk=row.pk)
    before = rows.values(*values).get()
    with unguarded():
        rows.update(**values)
    yield
    with unguarded():
        rows.update(**before)


def nearly_no_noise(plan: dict) -> dict:
    return {**plan, "noise": {**plan["noise"], "scale": "1/1000"}}


def failure_of(release: Release) -> str:
    RELEASES.run(release.pk)
    job = ReleaseJob.objects.get(pk=release.pk)
    assert job.state == JobState.FAILED
    return job.failure


def test_no_noise_is_drawn_by_a_plan_that_was_changed_meanwhile(requested):
    with forged(requested, plan_json=nearly_no_noise(requested.plan_json)):
        assert WORDS in failure_of(requested)
    requested.refresh_from_db()
    assert not requested.measurement and requested.state == Release.State.FAILED
    assert LedgerEntry.objects.get(pk=requested.charge_id).state == LedgerEntry.State.VOID


def test_no_noise_is_drawn_where_declaration_or_charge_were_changed_meanwhile(requested):
    [column, *_] = AttributeDeclaration.objects.filter(column__in=requested.columns)
    for row, values in (
        (column, {"declaration": {**column.declaration, "name": "other"}}),
        (requested.charge, {"amount": requested.charge.amount * 2}),
    ):
        with forged(row, **values), pytest.raises(ForgedRowError):
            described_release(requested.pk)
    assert described_release(requested.pk) == requested


@pytest.mark.parametrize("whose", ["title", "loss", "dataset", "curator"])
def test_no_file_is_signed_by_rows_that_were_changed_meanwhile(ready, whose):
    release = Release.objects.get(pk=ready.pk)
    loss = {**release.plan_json["loss"], "amount": "1/20"}
    row, values = {
        "title": (release, {"title": "In truth exactly 24,720"}),
        "loss": (release, {"plan_json": {**release.plan_json, "loss": loss}}),
        "dataset": (release.dataset, {"name": "Other people"}),
        "curator": (release.created_by, {"display_name": "Somebody else"}),
    }[whose]
    before = list(Artifact.objects.filter(release=release).values_list("stored", "sha256"))
    with forged(release, words=""), forged(row, **values):
        tasks.sweep()
        assert WORDS in failure_of(release)
    assert list(Artifact.objects.filter(release=release).values_list("stored", "sha256")) == before
    assert not list(verification.problems([]))


def test_a_plan_that_is_changed_on_its_way_into_the_database_is_refused(draft, monkeypatch):
    """As by a trigger that somebody added for the moment."""
    update = models.QuerySet.update

    def changing(rows, **values):
        if values.get("plan_json"):
            values["plan_json"] = nearly_no_noise(values["plan_json"])
        return update(rows, **values)

    monkeypatch.setattr(models.QuerySet, "update", changing)
    with pytest.raises(ReleaseError, match=WORDS):
        building.confirm(draft)
    monkeypatch.undo()
    assert Release.objects.get(pk=draft.pk).state == Release.State.DRAFT


def test_the_history_has_no_digest_of_a_plan_that_nobody_confirmed(draft, monkeypatch):
    """A trigger that gives the draft's row another plan for one statement would have the portal's key made of it."""
    forged_plan, update, kept = {"noise": {"scale": "1/1000"}}, models.QuerySet.update, []

    def triggered(rows, **values):
        changed = update(rows, **values)
        if rows.model is Release and "requested_at" in values:
            update(Release._base_manager.filter(pk=draft.pk), plan_json=forged_plan)
            kept.append(True)
        return changed

    monkeypatch.setattr(models.QuerySet, "update", triggered)
    building.confirm(draft)
    monkeypatch.undo()
    kind, key = imprints.kinds["release"], str(draft.pk)
    digest = imprints.digests_of(kind, key, {"plan_json": forged_plan}, {})["plan_json"]
    lines = Imprint.objects.filter(kind="release", subject=key)
    assert kept and lines.count() > 1 and digest not in [line.digests["plan_json"] for line in lines]


def test_no_file_leaves_out_a_choice_that_was_hidden_meanwhile(dataset):
    choice = building.requested_values(dataset)
    CHOICES.run(choice.pk)
    dataset.refresh_from_db()
    release = building.requested_release(dataset)
    RELEASES.run(release.pk)
    choice = ValueChoice.objects.get()
    for values in ({"measured_at": None}, {"dataset_id": building.stored_dataset(dataset.owner, "Other").pk}):
        with forged(choice, **values), pytest.raises(ForgedRowError, match="valuechoice"):
            described_release(release.pk)
    assert described_release(release.pk) == release


def test_no_table_of_another_dataset_is_counted_meanwhile(requested, other_curator):
    other = building.stored_dataset(other_curator)
    with forged(requested.dataset, table=other.table):
        assert WORDS in failure_of(requested)
    assert not Release.objects.get(pk=requested.pk).measurement


def test_no_account_of_the_same_people_is_left_out(ready, dataset):
    other = building.stored_dataset(dataset.owner, "Other")
    with forged(ready.charge.budget, dataset_id=other.pk), pytest.raises(ForgedRowError, match="budget"):
        described_release(ready.pk)


@pytest.mark.parametrize(
    "values", [{"state": "void"}, {"state": "reserved", "settled_at": None}, {"amount": "0.01"}]
)
def test_no_file_says_that_less_was_spent_before(ready, values):
    """Nor where the account agrees with the line that was changed."""
    budget, before = ready.charge.budget, Budget.objects.get(pk=ready.charge.budget_id).spent
    again = building.requested_release(ready.dataset)
    RELEASES.run(again.pk)
    spent = before + Decimal(values.get("amount", 0))
    with (
        forged(ready.charge, **values),
        forged(budget, spent=spent),
        pytest.raises(ForgedRowError, match="line"),
    ):
        described_release(again.pk)
    with forged(budget, spent=before), pytest.raises(ForgedRowError, match="budget"):
        described_release(again.pk)
    assert described_release(again.pk) == again


def test_lines_of_accounts_and_choices_are_read_once_however_many_datasets_are_bound_together(
    ready, dataset, administrator
):
    def readings() -> int:
        with CaptureQueriesContext(connection) as queries:
            require_texts(Release.objects.get(pk=ready.pk))
        return len(queries)

    def bind(name: str) -> None:
        other = building.stored_dataset(dataset.owner, name)
        building.granted(other, administrator, knowing=True)
        dataset.same_people.add(other)

    bind("Another")
    before = readings()
    bind("A third")
    bind("A fourth")
    assert readings() == before


def test_no_file_names_other_people_as_protected(ready):
    with forged(ready.charge.budget, unit_column="age"), pytest.raises(ForgedRowError, match="budget"):
        described_release(ready.pk)


def test_no_period_is_drawn_by_a_plan_that_was_changed_meanwhile(dataset):
    stream = streams.open_stream(dataset)
    with forged(stream, plan_json=nearly_no_noise(stream.plan_json)), pytest.raises(VaultError, match=WORDS):
        publish(stream, 1, 5)
    assert not Period.objects.exists()
    publish(stream, 1, 5)
    assert Period.objects.count() == 1


@pytest.mark.parametrize("whose", ["name", "loss", "count", "margin"])
def test_no_file_of_a_running_count_is_signed_by_rows_that_were_changed_meanwhile(dataset, whose):
    stream = streams.open_stream(dataset)
    publish(stream, 1, 5)
    SeriesBundle.objects.get_or_create(stream=stream)
    DOWNLOADS.run(stream.pk)
    before = list(SeriesFile.objects.values_list("stored", flat=True))
    assert before
    period, loss = Period.objects.get(), {**stream.plan_json["loss"], "amount": "1/50"}
    row, values = {
        "name": (stream, {"name": "In truth 71234"}),
        "loss": (stream, {"plan_json": {**stream.plan_json, "loss": loss}}),
        "count": (period, {"released": [71234]}),
        "margin": (period, {"half_width": 0}),
    }[whose]
    SeriesBundle.objects.update(state=JobState.QUEUED, texts="")
    with forged(row, **values):
        DOWNLOADS.run(stream.pk)
    job = SeriesBundle.objects.get()
    assert job.state == JobState.FAILED and WORDS in job.failure
    assert list(SeriesFile.objects.values_list("stored", flat=True)) == before


def test_no_value_is_chosen_by_a_plan_that_was_changed_meanwhile(dataset):
    choice = building.requested_values(dataset)
    plan = {**choice.plan_json, "loss": {**choice.plan_json["loss"], "amount": "9"}}
    with forged(choice, plan_json=plan):
        CHOICES.run(choice.pk)
    choice = ValueChoice.objects.get()
    assert choice.state == JobState.FAILED and WORDS in choice.failure and choice.kept is None


def test_rows_that_the_portal_writes_itself_are_what_it_wrote(ready):
    Dataset.objects.filter(pk=ready.dataset_id).update(name="Another name")
    tasks.sweep()
    RELEASES.run(ready.pk)
    assert ReleaseJob.objects.get(pk=ready.pk).state == JobState.DONE
