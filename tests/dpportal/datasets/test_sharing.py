"""A dataset that is shared: who can be named, what stays hidden, and what ends when the right is taken back."""

import json
from decimal import Decimal

import pytest
from django.db import transaction
from django.urls import reverse

from dpportal.accounts import bell
from dpportal.accounts.models import AuditEntry, Role, User
from dpportal.datasets import sharing
from dpportal.datasets.access import require_releaser
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Right, Share
from dpportal.jobs.claims import JobState
from dpportal.releases import execution
from dpportal.releases.models import Release
from dpportal.streams import services as streams
from dpportal.streams.models import Period
from dpportal.tables.connections.models import Connection, SharedTable
from tests.dpportal import building
from tests.dpportal.streams import building as streaming


@pytest.fixture
def colleague(db) -> User:
    person = building.person("colleague", Role.CURATOR)
    User.objects.filter(pk=person.pk).update(email="Colleague@office.example", display_name="Kim Lee")
    person.refresh_from_db()
    return person


@pytest.fixture
def shared(dataset, colleague):
    """The dataset, from which the colleague may release."""
    sharing.share(dataset, "colleague", Right.RELEASE, dataset.owner)
    return dataset


@pytest.fixture
def asked(shared, colleague) -> Release:
    """A release that the colleague confirmed, of a draft that the owner wrote; its job is queued."""
    draft = building.complete_draft(shared)
    building.confirm(draft, colleague)
    draft.refresh_from_db()
    return draft


def post(client, dataset, name: str, right: Right = Right.SEE):
    return client.post(reverse("datasets:share", args=[dataset.pk]), {"name": name, "right": int(right)})


def left(dataset) -> Decimal:
    return dataset.budgets.get().left


def test_the_bell_rings_for_a_right_until_its_person_looked(client, shared, colleague):
    client.force_login(colleague)
    assert bell.news(colleague) == 1
    page = client.get(reverse("releases:finished"))
    assert (
        "Shared with you:" in page.text
        and f"{shared.name}</a>" in page.text
        and ": Release</div>" in page.text
    )
    assert bell.news(colleague) == 0
    sharing.share(shared, "colleague", Right.OWN, shared.owner)
    assert bell.news(colleague) == 1
    sharing.take_back(Share.objects.get(), shared.owner)
    assert bell.news(colleague) == 0
    assert shared.name not in client.get(reverse("releases:finished")).text


def test_administrators_see_with_whom_datasets_are_shared(client, shared):
    client.force_login(building.person("chief", Role.ADMINISTRATOR))
    for address in (reverse("office"), reverse("admin:datasets_dataset_change", args=[shared.pk])):
        assert "colleague: Release" in client.get(address).text


@pytest.mark.parametrize("name", ["colleague", " colleague ", "colleague@OFFICE.example"])
def test_a_curator_is_named_by_user_name_or_address(client, dataset, colleague, name):
    client.force_login(dataset.owner)
    assert post(client, dataset, name, Right.RELEASE).status_code == 302
    assert Share.objects.get().person == colleague
    assert AuditEntry.objects.get(action="shared").detail == "with colleague: release"
    assert "Kim Lee" in client.get(reverse("datasets:home", args=[dataset.pk])).text


@pytest.mark.slow
def test_whoever_is_no_curator_is_answered_like_one_who_does_not_exist(client, dataset, analyst, colleague):
    twin = building.person("twin", Role.CURATOR)
    User.objects.filter(pk=twin.pk).update(email=colleague.email)
    gone = building.person("gone", Role.CURATOR)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    client.force_login(dataset.owner)
    names = ["analyst", "gone", "COLLEAGUE", colleague.email, "nobody at all", "'"]
    pages = [post(client, dataset, name) for name in names]
    assert {page.status_code for page in pages} == {422}
    assert len({str(page.context["form"].errors["name"]) for page in pages}) == 1
    assert not Share.objects.exists()
    # What was typed is not written down: it could be a password.
    assert {entry.detail for entry in AuditEntry.objects.filter(action=sharing.NOBODY)} == {""}


def test_names_cannot_be_tried_out(dataset, colleague, settings):
    settings.SHARING_TRIES_PER_DAY = 2
    for _ in range(2):
        with pytest.raises(DatasetError, match="exactly"):
            sharing.share(dataset, "anna", Right.SEE, dataset.owner)
    with pytest.raises(DatasetError, match="tomorrow"):
        sharing.share(dataset, "colleague", Right.SEE, dataset.owner)


def test_who_may_release_cannot_share_on_nor_take_back(client, shared, colleague, other_curator):
    sharing.share(shared, "other", Right.SEE, shared.owner)
    theirs = Share.objects.get(person=other_curator)
    client.force_login(colleague)
    assert post(client, shared, "other", Right.OWN).status_code == 404
    assert client.post(reverse("datasets:take_back", args=[shared.pk, theirs.pk])).status_code == 404
    assert Share.objects.get(person=other_curator).right == Right.SEE


def test_everyone_gives_their_own_right_back(client, shared, colleague):
    client.force_login(colleague)
    client.post(reverse("datasets:take_back", args=[shared.pk, Share.objects.get().pk]))
    assert not Share.objects.exists()
    assert client.get(reverse("datasets:home", args=[shared.pk])).status_code == 404


@pytest.mark.slow
def test_who_may_only_see_is_told_no_number_of_rows_and_no_draft(client, dataset, colleague):
    type(dataset).objects.filter(pk=dataset.pk).update(rows=98765)
    sharing.share(dataset, "colleague", Right.SEE, dataset.owner)
    draft = building.complete_draft(dataset)
    Release.objects.filter(pk=draft.pk).update(title="Half-baked idea")
    client.force_login(colleague)
    home = reverse("datasets:home", args=[dataset.pk])
    for address in (home, reverse("datasets:list"), reverse("releases:list")):
        page = client.get(address).text
        assert "98,765" not in page
        assert "Half-baked idea" not in page
    Share.objects.update(right=Right.RELEASE)
    page = client.get(home).text
    assert "98,765" in page
    assert "Half-baked idea" in page


def test_a_queued_job_of_who_lost_the_right_ends_without_spending(asked, colleague):
    sharing.take_back(Share.objects.get(), asked.dataset.owner)
    execution.RELEASES.run(asked.pk)
    asked.refresh_from_db()
    assert asked.job.state == JobState.FAILED
    assert "may not release from this dataset any more" in asked.job.failure
    assert asked.measurement == ""
    assert left(asked.dataset) == 1


def test_a_job_of_who_may_now_only_see_ends_so_too(asked, colleague):
    sharing.share(asked.dataset, "colleague", Right.SEE, asked.dataset.owner)
    execution.RELEASES.run(asked.pk)
    asked.refresh_from_db()
    assert asked.state == Release.State.FAILED


@pytest.mark.slow
def test_what_was_measured_is_finished_whoever_asked(asked, monkeypatch):
    """The right is taken back between the commit of the measurement and the post-processing."""
    finish = execution.finish

    def taken_back(release_id, claim):
        sharing.take_back(Share.objects.get(), asked.dataset.owner)
        finish(release_id, claim)

    monkeypatch.setattr(execution, "finish", taken_back)
    execution.RELEASES.run(asked.pk)
    asked.refresh_from_db()
    assert asked.state == Release.State.READY
    assert left(asked.dataset) == Decimal("0.9")


@pytest.mark.slow
def test_the_bell_rings_for_who_asked(asked, colleague):
    Share.objects.update(seen=True)
    execution.RELEASES.run(asked.pk)
    assert (bell.news(colleague), bell.news(asked.dataset.owner)) == (1, 0)
    sharing.take_back(Share.objects.get(), asked.dataset.owner)
    assert bell.news(colleague) == 0


def test_a_token_ends_with_the_right_of_who_made_it(client, shared, colleague):
    stream = streaming.open_stream(shared)
    token = streams.renew_token(stream, colleague)
    address, bearer = reverse("streams:periods", args=[stream.pk]), {"Authorization": f"Bearer {token}"}

    def send(period: int) -> int:
        body = json.dumps({"period": period, "counts": 2})
        return client.post(address, body, "application/json", headers=bearer).status_code

    assert send(1) == 201
    assert AuditEntry.objects.get(action="published by token").by == colleague
    sharing.take_back(Share.objects.get(), shared.owner)
    assert send(2) == 403
    assert Period.objects.count() == 1


@pytest.mark.slow
def test_a_co_owner_goes_on_when_the_first_owner_leaves(shared, colleague):
    sharing.share(shared, "colleague", Right.OWN, shared.owner)
    draft = building.complete_draft(shared)
    building.confirm(draft, colleague)
    User.objects.filter(pk=shared.owner_id).update(role=Role.ANALYST)
    execution.RELEASES.run(draft.pk)
    draft.refresh_from_db()
    assert draft.state == Release.State.READY


def test_who_may_release_does_not_when_no_owner_is_left(asked, colleague):
    User.objects.filter(pk=asked.dataset.owner_id).update(is_active=False)
    execution.RELEASES.run(asked.pk)
    asked.refresh_from_db()
    assert asked.state == Release.State.FAILED


def test_what_the_first_owner_has_cannot_be_shared_away(shared, colleague):
    sharing.share(shared, "colleague", Right.OWN, shared.owner)
    for name in ("curator", "colleague"):
        with pytest.raises(DatasetError, match="already"):
            sharing.share(shared, name, Right.SEE, colleague)


def test_sharing_opens_no_table_elsewhere_that_is_not_offered(dataset, colleague):
    connection = Connection.objects.create(
        name="register", host="db.example", database="register", user="reader"
    )
    connection.curators.add(dataset.owner)
    table = SharedTable.objects.create(connection=connection, title="Visits", schema="health", table="visits")
    type(dataset).objects.filter(pk=dataset.pk).update(source=table)
    dataset.refresh_from_db()
    sharing.share(dataset, "colleague", Right.SEE, dataset.owner)
    with pytest.raises(DatasetError, match="do not offer it"):
        sharing.share(dataset, "colleague", Right.RELEASE, dataset.owner)
    connection.curators.add(colleague)
    sharing.share(dataset, "colleague", Right.RELEASE, dataset.owner)
    with transaction.atomic():
        require_releaser(dataset, colleague.pk, DatasetError)
    connection.curators.remove(colleague)
    with pytest.raises(DatasetError, match="not offered"), transaction.atomic():
        require_releaser(dataset, colleague.pk, DatasetError)


def test_a_share_that_came_up_meanwhile_is_locked_before_its_dataset(
    dataset, colleague, curator, monkeypatch
):
    """Whoever releases by it locks in this order, and two who do not would wait for each other for ever."""
    locks: list[str] = []
    lock = sharing.services.lock_dataset

    def locking(own, *others):
        lock(own, *others)
        locks.append("dataset")
        if len(locks) == 1:  # as another owner's transaction, which ended while this one waited
            Share.objects.create(dataset=own, person=colleague, right=Right.SEE)

    monkeypatch.setattr(sharing.services, "lock_dataset", locking)
    sharing.share(dataset, colleague.username, Right.RELEASE, curator)
    assert Share.objects.get().right == Right.RELEASE
    assert locks == ["dataset", "dataset"]  # what was begun in the other order was undone
