"""What was withdrawn since the copy that the database was put back from does not come back to the public."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.jobs.claims import reset_fields
from dpportal.management.commands.check_restored import report
from dpportal.operations import restore_check, sweeping, verification, withdrawn_again
from dpportal.operations.strange_files import strange_files
from dpportal.platform import journal
from dpportal.publications import publishing, withdrawal_journal
from dpportal.releases import execution, services
from dpportal.releases.models import Release, ReleaseJob
from dpportal.streams import services as stream_services
from tests.dpportal.streams.building import open_stream

# What is remembered is remembered once it is committed.
pytestmark = pytest.mark.django_db(transaction=True)
BECAUSE = "It names a village"
AS_NEVER_WITHDRAWN = {"withdrawn_at": None, "withdrawn_because": ""}
AS_NEVER_PUBLISHED = {**AS_NEVER_WITHDRAWN, "published_at": None}


@pytest.fixture
def withdrawn(ready) -> Release:
    services.publish(ready, ready.created_by)
    services.withdraw(ready, ready.created_by, BECAUSE)
    return fresh(ready)


def fresh(publication):
    return type(publication).objects.get(pk=publication.pk)


def put_back(publication, **as_it_was) -> None:
    """As in the older copy."""
    type(publication).objects.filter(pk=publication.pk).update(**as_it_was)


def files_of(publication) -> list[str]:
    return journal.names(f"{withdrawal_journal.FOLDER}/{publication.pk}")


def test_a_release_that_was_public_in_the_copy_is_withdrawn_again_with_its_reason(client, withdrawn):
    put_back(withdrawn, **AS_NEVER_WITHDRAWN)
    assert client.get(withdrawn.get_absolute_url()).status_code == 200
    found = restore_check.check()
    page = client.get(withdrawn.get_absolute_url())
    assert page.status_code == 410 and BECAUSE in page.content.decode()
    assert found.withdrawn == [withdrawn] and not found.troubles
    assert fresh(withdrawn).withdrawn_at == withdrawn.withdrawn_at
    [line] = AuditEntry.objects.filter(action=publishing.WITHDRAWN_AGAIN)
    assert line.by is None and line.subject == f"release {withdrawn.pk}"
    assert report(found) == [
        f"Withdrawn again, since it was withdrawn after the copy was made: {withdrawn.title}"
    ]
    assert restore_check.check().withdrawn == []


def test_the_sweep_does_it_too_and_the_page_health_names_it(client, administrator, withdrawn):
    put_back(withdrawn, **AS_NEVER_WITHDRAWN)
    assert any("has that it was withdrawn" in line for line in verification.problems([]))
    sweeping.sweep_jobs()
    assert not fresh(withdrawn).is_public
    assert not any("has that it was withdrawn" in line for line in verification.problems([]))
    client.force_login(administrator)
    page = client.get("/health/portal/").content.decode()
    assert "Withdrawn again after a restore" in page and withdrawn.title in page


def test_a_running_count_is_withdrawn_again(dataset):
    stream = open_stream(dataset)
    stream_services.publish(stream, dataset.owner)
    stream_services.withdraw(stream, dataset.owner, BECAUSE)
    put_back(stream, **AS_NEVER_WITHDRAWN)
    assert restore_check.check().withdrawn == [stream]
    assert fresh(stream).withdrawn_because == BECAUSE


def test_a_job_does_not_publish_by_itself_what_was_withdrawn(client, withdrawn):
    """It was to be published as soon as it is finished, and the copy was made before."""
    put_back(withdrawn, **AS_NEVER_PUBLISHED, state="measured", publishes_itself=True)
    ReleaseJob.objects.filter(pk=withdrawn.pk).update(**reset_fields())
    assert execution.RELEASES.run(withdrawn.pk)
    after = fresh(withdrawn)
    assert (after.state, after.is_public, after.withdrawn_because) == ("ready", False, BECAUSE)
    assert client.get(withdrawn.get_absolute_url()).status_code == 410


def test_what_is_published_again_stays_public(withdrawn):
    assert files_of(withdrawn) == ["1"]
    services.publish(withdrawn, withdrawn.created_by)
    assert files_of(withdrawn) == ["1", "2"]
    assert restore_check.check().withdrawn == [] and fresh(withdrawn).is_public
    services.withdraw(withdrawn, withdrawn.created_by, "Again")
    put_back(withdrawn, **AS_NEVER_WITHDRAWN)
    restore_check.check()
    assert fresh(withdrawn).withdrawn_because == "Again" and files_of(withdrawn) == ["1", "2", "3"]


@pytest.mark.parametrize("act", [restore_check.check, sweeping.sweep_jobs, withdrawn_again.remember_all])
def test_a_copy_between_two_withdrawals_has_the_second_reason(client, withdrawn, act):
    """The copy has the first one, a day old or newer; the memory has both, and that it was public in between."""
    first = {name: getattr(withdrawn, name) for name in ("published_at", "withdrawn_at", "withdrawn_because")}
    services.publish(withdrawn, withdrawn.created_by)
    services.withdraw(withdrawn, withdrawn.created_by, "Its counts were of another year")
    second = fresh(withdrawn)
    put_back(withdrawn, **first)
    act()
    page = client.get(withdrawn.get_absolute_url())
    assert page.status_code == 410 and "of another year" in page.content.decode()
    after = fresh(withdrawn)
    assert (after.published_at, after.withdrawn_at) == (second.published_at, second.withdrawn_at)
    assert withdrawn_again.findings() == [withdrawn] and files_of(withdrawn) == ["1", "2", "3"]
    act()
    assert AuditEntry.objects.filter(action=publishing.WITHDRAWN_AGAIN).count() == 1


def test_a_copy_of_before_it_was_public_again_stays_withdrawn(withdrawn):
    """Nobody's act has it public in the database that is there now; a curator may publish it as before."""
    as_withdrawn = {
        name: getattr(withdrawn, name) for name in ("published_at", "withdrawn_at", "withdrawn_because")
    }
    services.publish(withdrawn, withdrawn.created_by)
    put_back(withdrawn, **as_withdrawn)
    assert restore_check.check().withdrawn == []
    assert fresh(withdrawn).withdrawn_because == BECAUSE and files_of(withdrawn) == ["1", "2", "3"]
    services.publish(fresh(withdrawn), withdrawn.created_by)
    assert fresh(withdrawn).is_public


def test_a_first_publication_needs_no_file(ready):
    services.publish(ready, ready.created_by)
    assert files_of(ready) == []


def test_nothing_is_published_again_that_cannot_be_remembered(client, withdrawn):
    """Or the next look would withdraw it. Whoever asks for it is told."""
    journal.replace(f"{withdrawal_journal.FOLDER}/{withdrawn.pk}/1")
    with pytest.raises(services.ReleaseError, match="check_restored --accept"):
        services.publish(withdrawn, withdrawn.created_by)
    client.force_login(withdrawn.created_by)
    address = reverse("releases:publish", args=[withdrawn.pk])
    said = client.post(address, {"all_the_same": "on"}, follow=True).content.decode()
    assert "check_restored --accept" in said
    assert not fresh(withdrawn).is_public


def test_a_withdrawal_does_not_wait_for_the_memory(ready):
    services.publish(ready, ready.created_by)
    away = settings.MEMORY_DIR.rename(settings.MEMORY_DIR.with_suffix(".away"))
    services.withdraw(ready, ready.created_by, BECAUSE)
    away.rename(settings.MEMORY_DIR)
    assert not fresh(ready).is_public and files_of(ready) == []
    sweeping.sweep_jobs()
    assert files_of(ready) == ["1"]


def test_without_the_memory_nothing_is_claimed(withdrawn):
    put_back(withdrawn, **AS_NEVER_WITHDRAWN)
    (settings.MEMORY_DIR / journal.MARK).unlink()
    assert restore_check.check().withdrawn == [] and fresh(withdrawn).is_public
    assert list(withdrawn_again.contradictions()) == []


def test_a_memory_that_an_administrator_let_begin_anew_knows_what_is_withdrawn(withdrawn):
    shutil.rmtree(settings.MEMORY_DIR)
    call_command("check_restored", "--accept")
    put_back(withdrawn, **AS_NEVER_WITHDRAWN)
    assert restore_check.check().withdrawn == [withdrawn]


def test_its_files_are_the_portals_own(withdrawn):
    assert not [name for name in strange_files() if name.startswith("memory/")]
    name = f"{withdrawal_journal.FOLDER}/{withdrawn.pk}/2"
    (settings.MEMORY_DIR / name).write_bytes(b"not sealed")
    assert f"memory/{name}" in list(strange_files())


class CommitFailedError(Exception):
    """As where the database ends at the last moment."""


@contextmanager
def failing_commit() -> Iterator[None]:
    with suppress(CommitFailedError), transaction.atomic():
        yield
        raise CommitFailedError


def test_a_withdrawal_whose_commit_failed_is_not_done_later(ready):
    services.publish(ready, ready.created_by)
    with failing_commit():
        services.withdraw(ready, ready.created_by, BECAUSE)
    sweeping.sweep_jobs()
    assert fresh(ready).is_public and files_of(ready) == []


def test_what_could_not_be_published_again_is_withdrawn_after_a_restore(withdrawn):
    with failing_commit():
        services.publish(withdrawn, withdrawn.created_by)
    assert files_of(withdrawn) == ["1"]
    put_back(withdrawn, **AS_NEVER_WITHDRAWN)
    assert restore_check.check().withdrawn == [withdrawn]


def test_what_was_published_again_and_not_yet_remembered_stays_public(withdrawn, monkeypatch):
    """Whoever did it died in between. A withdrawal after that is remembered, too."""
    with monkeypatch.context() as dying:
        dying.setattr(publishing, "remember", lambda _publication: None)
        services.publish(withdrawn, withdrawn.created_by)
    assert files_of(withdrawn) == ["1"]
    assert not any("has that it was withdrawn" in line for line in verification.problems([]))
    sweeping.sweep_jobs()
    assert fresh(withdrawn).is_public and files_of(withdrawn) == ["1", "2"]
    with monkeypatch.context() as dying:
        dying.setattr(publishing, "remember", lambda _publication: None)
        services.withdraw(withdrawn, withdrawn.created_by, "Again")
    sweeping.sweep_jobs()
    assert files_of(withdrawn) == ["1", "2", "3"]
    sweeping.sweep_jobs()
    assert files_of(withdrawn) == ["1", "2", "3"]


def test_a_clock_that_is_set_back_changes_nothing(withdrawn, monkeypatch):
    """What was published again stays public, and what was withdrawn after that stays withdrawn after a restore."""
    past = withdrawn.withdrawn_at - timedelta(hours=1)
    monkeypatch.setattr(publishing, "database_now", lambda: past)
    services.publish(withdrawn, withdrawn.created_by)
    sweeping.sweep_jobs()
    as_public = {"published_at": fresh(withdrawn).published_at, **AS_NEVER_WITHDRAWN}
    assert fresh(withdrawn).is_public
    services.withdraw(withdrawn, withdrawn.created_by, "Again")
    put_back(withdrawn, **as_public)
    assert restore_check.check().withdrawn == [withdrawn]
