"""What somebody's trigger makes of a row while the portal writes it has no digest: it is neither used nor hidden."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.db import connection, models

from dpportal.accounts.models import Role, User
from dpportal.budgets.confirmed import require_confirmed
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets import frozen_declarations
from dpportal.datasets.models import Dataset, DomainVersion, Right, Share
from dpportal.history import imprints, watched
from dpportal.history.imprints import ForgedRowError
from dpportal.history.models import Imprint
from dpportal.jobs.claims import JobState
from dpportal.releases.as_confirmed import described_release
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Artifact, Release, ReleaseJob
from dpportal.releases.products import confirmed_plan
from dpportal.streams import tokens
from dpportal.streams.downloads import DOWNLOADS
from dpportal.streams.models import Period, SeriesBundle, SeriesFile, Stream
from tests.dpportal import building
from tests.dpportal.history.test_chain import unguarded
from tests.dpportal.history.test_forged_meanwhile import WORDS
from tests.dpportal.streams import building as streams
from tests.dpportal.streams.test_publishing import publish

pytestmark = pytest.mark.django_db


@contextmanager
def triggered(event: str, table: str, body: str) -> Iterator[None]:
    """Inside, somebody's statement runs after each of the portal's on this table. The portal's guards are off."""
    begun = [f"CREATE TRIGGER forging AFTER {event} ON {table} BEGIN {body}; END"]
    ended = ["DROP TRIGGER forging"]
    if connection.vendor == "postgresql":
        begun = [
            f"CREATE FUNCTION forge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body}; RETURN NULL; END $$",
            f"CREATE TRIGGER forging AFTER {event} ON {table} FOR EACH ROW WHEN (pg_trigger_depth() = 0) "
            "EXECUTE FUNCTION forge()",
        ]
        ended = [f"DROP TRIGGER forging ON {table}", "DROP FUNCTION forge"]
    with unguarded():
        for statement in begun:
            connection.cursor().execute(statement)
        yield
        for statement in ended:
            connection.cursor().execute(statement)


def differences_of(kind: str) -> list[str]:
    """What `verify` says of things of a kind."""
    return [text for text in imprints.differences() if kind in text]


def failure_of(release: Release) -> str:
    RELEASES.run(release.pk)
    job = ReleaseJob.objects.get(pk=release.pk)
    assert job.state == JobState.FAILED
    return job.failure


def other_release(owner: User) -> Release:
    """A release of another dataset that was made."""
    dataset = building.stored_dataset(owner, "Other")
    building.granted(dataset, building.person("grants", Role.ADMINISTRATOR))
    release = building.requested_release(dataset)
    RELEASES.run(release.pk)
    release.refresh_from_db()
    return release


def test_a_declaration_is_frozen_as_it_was_reviewed(draft):
    forging = "UPDATE datasets_domainversion SET max_rows = 1000 WHERE id = NEW.id"
    with triggered("UPDATE OF frozen", "datasets_domainversion", forging):
        building.confirm(draft)
    assert WORDS in failure_of(draft) and differences_of("declaration")


@pytest.mark.parametrize(
    "forging",
    [
        "publishes_itself = TRUE",
        "title = 'In truth 24,720'",
        "people = 7",
        "product = 'means'",
        "columns = '[]'",
    ],
)
def test_a_release_is_confirmed_as_it_was_reviewed(draft, forging):
    statement = f"UPDATE releases_release SET {forging} WHERE id = NEW.id"
    with triggered("UPDATE OF charge_id", "releases_release", statement):
        building.confirm(draft)
    stored = Release.objects.get(pk=draft.pk)
    with pytest.raises(ForgedRowError):
        watched.require_written(stored)
    assert differences_of("release")
    RELEASES.run(draft.pk)
    stored.refresh_from_db()
    assert stored.published_at is None and not stored.measurement


def test_a_release_that_says_by_itself_that_it_is_to_be_published_is_not(requested):
    forging = "UPDATE releases_release SET publishes_itself = TRUE WHERE id = NEW.release_id"
    with triggered("UPDATE OF state", "releases_releasejob", forging):
        RELEASES.run(requested.pk)
    assert Release.objects.get(pk=requested.pk).published_at is None


def test_the_charge_of_another_release_pays_for_none(draft, other_curator):
    other = other_release(other_curator)
    forging = f"UPDATE releases_release SET charge_id = {other.charge_id} WHERE id = NEW.id"
    models_unbound = "UPDATE releases_release SET charge_id = NULL WHERE id = '%s'" % (
        other.pk.hex if connection.vendor == "sqlite" else other.pk
    )
    with unguarded():
        connection.cursor().execute(models_unbound)
    with triggered("UPDATE OF charge_id", "releases_release", forging):
        building.confirm(draft)
    assert WORDS in failure_of(draft) and differences_of("release")


@pytest.mark.parametrize("kind", [LedgerEntry.Kind.GRANT, "void", "other"])
def test_only_a_charge_of_its_own_account_pays_for_a_release(ready, other_curator, kind):
    """Even were its row written by the portal."""
    release = described_release(ready.pk)
    charge = LedgerEntry.objects.get(pk=ready.charge_id)
    if kind == "void":
        charge.state = LedgerEntry.State.VOID
    elif kind == "other":
        charge = other_release(other_curator).charge
    else:
        charge.kind = kind
    release.charge = charge
    with pytest.raises(ForgedRowError, match="line"):
        require_confirmed(release, confirmed_plan(release).loss)


def test_the_records_of_another_dataset_are_nobodys(requested, other_curator):
    other = building.stored_dataset(other_curator)
    dataset = requested.dataset
    forging = f"UPDATE datasets_dataset SET \"table\" = '{other.table}' WHERE id = NEW.id"
    with triggered('UPDATE OF "table"', "datasets_dataset", forging):
        Dataset.objects.filter(pk=dataset.pk).update(table=dataset.table)
    assert differences_of("dataset")
    assert WORDS in failure_of(requested)


def test_the_records_of_another_dataset_are_not_counted_even_if_a_row_names_them(requested, other_curator):
    Dataset.objects.filter(pk=requested.dataset_id).update(table=building.stored_dataset(other_curator).table)
    assert WORDS in failure_of(requested)


def test_a_running_count_counts_what_was_reviewed(dataset):
    stream = streams.draft_stream(dataset)
    forging = "UPDATE streams_stream SET summed = 'age', largest_increment = 1000 WHERE id = NEW.id"
    with triggered("UPDATE OF requested_at", "streams_stream", forging):
        streams.confirm(stream)
    assert differences_of("stream")
    with pytest.raises(ForgedRowError):
        watched.require_written(Stream.objects.get(pk=stream.pk))


def test_a_period_is_what_was_drawn(dataset):
    stream = streams.open_stream(dataset)
    forging = "UPDATE streams_period SET released = '[71234]' WHERE id = NEW.id"
    with triggered("INSERT", "streams_period", forging):
        publish(stream, 1, 5)
    assert Period.objects.get().released == [71234]
    assert differences_of("periods of stream")
    SeriesBundle.objects.get_or_create(stream=stream)
    DOWNLOADS.run(stream.pk)
    assert WORDS in SeriesBundle.objects.get().failure and not SeriesFile.objects.exists()


def test_a_measurement_is_that_which_was_made(requested, other_curator):
    other = other_release(other_curator)
    forging = f"UPDATE releases_release SET measurement = '{other.measurement}' WHERE id = NEW.id"
    with triggered("UPDATE OF measured_at", "releases_release", forging):
        assert WORDS in failure_of(requested)
    assert differences_of("release")


def test_files_are_those_that_were_written(requested, other_curator):
    stored = Artifact.objects.filter(release=other_release(other_curator)).first()
    forging = f"UPDATE releases_artifact SET stored = '{stored.stored}' WHERE id = NEW.id"
    with triggered("INSERT", "releases_artifact", forging):
        RELEASES.run(requested.pk)
    assert differences_of("files of release")


def test_those_who_are_bound_are_those_whom_a_grant_named(dataset, other_curator):
    first, second = (building.stored_dataset(other_curator, name) for name in ("One", "Two"))
    forging = (
        "UPDATE datasets_dataset_same_people SET to_dataset_id = "
        f"'{second.pk.hex if connection.vendor == 'sqlite' else second.pk}' WHERE id = NEW.id"
    )
    with triggered("INSERT", "datasets_dataset_same_people", forging):
        dataset.same_people.add(first)
    assert differences_of("dataset")
    with pytest.raises(ForgedRowError):
        watched.require_fields(Dataset.objects.get(pk=dataset.pk), "same_people")


def test_a_row_that_a_trigger_deletes_at_once_is_missed(dataset, other_curator):
    with triggered("INSERT", "datasets_share", "DELETE FROM datasets_share WHERE id = NEW.id"):
        Share.objects.create(dataset=dataset, person=other_curator, right=Right.SEE)
    assert differences_of("share")


def test_a_row_that_a_trigger_puts_back_is_noticed(dataset, other_curator):
    """Whoever deletes a right believes that it is gone."""
    share = Share.objects.create(dataset=dataset, person=other_curator, right=Right.SEE)
    columns = [f'"{field.column}"' for field in Share._meta.concrete_fields]
    old = ", ".join(f"OLD.{column}" for column in columns)
    putting_back = f"INSERT INTO datasets_share ({', '.join(columns)}) VALUES ({old})"
    with triggered("DELETE", "datasets_share", putting_back):
        share.delete()
    assert Share.objects.filter(dataset=dataset).exists() and differences_of("share")


def test_what_the_portal_writes_undisturbed_is_what_its_lines_say(ready):
    assert frozen_declarations.require_written(ready.domain_version) is None
    assert not list(imprints.differences())


def test_a_line_that_is_written_once_more_past_the_portal_is_no_newest_line(dataset):
    """Whoever has the database has all earlier digests, and could have the portal write others behind them."""
    first = Imprint.objects.filter(kind="dataset", subject=str(dataset.pk)).order_by("pk").first()
    Dataset.objects.filter(pk=dataset.pk).update(name="Corrected")
    with unguarded():
        models.QuerySet(Imprint).create(kind="dataset", subject=str(dataset.pk), digests=first.digests)
        models.QuerySet(Dataset).filter(pk=dataset.pk).update(name="Small table")
    with pytest.raises(ForgedRowError):
        watched.require_fields(Dataset.objects.get(pk=dataset.pk), "name")
    lines = Imprint.objects.count()
    Dataset.objects.filter(pk=dataset.pk).update(description="Of today")
    assert Imprint.objects.count() == lines


@contextmanager
def hidden(kind: str, subject: object) -> Iterator[None]:
    """Inside, the history has no line of a thing: somebody gave them all another subject."""
    lines = models.QuerySet(Imprint).filter(kind=kind, subject=str(subject))
    keys = [line.pk for line in lines]
    with unguarded():
        lines.update(subject="hidden")
    yield
    with unguarded():
        models.QuerySet(Imprint).filter(pk__in=keys).update(subject=str(subject))


def test_no_first_line_is_made_of_what_the_database_has(dataset):
    """Where the lines of a running count are hidden while something else of it is written."""
    stream = streams.open_stream(dataset)
    with unguarded():
        models.QuerySet(Stream).filter(pk=stream.pk).update(summed="age")
    with hidden("stream", stream.pk):
        tokens.renew(stream, stream.created_by)
    with pytest.raises(ForgedRowError):
        watched.require_written(Stream.objects.get(pk=stream.pk))
    assert differences_of("stream")


def test_no_first_line_of_periods_says_what_the_database_has_of_others(dataset):
    stream = streams.open_stream(dataset)
    publish(stream, 1, 5)
    with unguarded():
        models.QuerySet(Period).update(released=[777])
    with hidden("periods of stream", f"{stream.pk} 0"):
        publish(stream, 2, 5)
    assert differences_of("periods of stream")


def test_a_declaration_is_frozen_once(ready, administrator):
    version = ready.domain_version
    with unguarded():
        models.QuerySet(DomainVersion).filter(pk=version.pk).update(frozen=False, ignore_case=True)
    again = building.complete_draft(ready.dataset)
    with pytest.raises(BudgetRefusedError, match=WORDS):
        building.confirm(again)
