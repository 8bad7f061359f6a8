"""What somebody's trigger makes of a row while the portal writes it has no digest: it is neither used nor hidden."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal

import pytest
from django.db import connection, models
from django.utils import timezone

from dpportal.accounts.models import Role, User
from dpportal.approvals.models import Approval
from dpportal.budgets import second_person
from dpportal.budgets.account_amounts import require_amounts
from dpportal.budgets.confirmed import require_confirmed
from dpportal.budgets.ledger import BudgetRefusedError
from dpportal.budgets.models import Budget, LedgerEntry
from dpportal.datasets import frozen_declarations
from dpportal.datasets.models import Dataset, DomainVersion, Right, Share
from dpportal.history import imprints, watched
from dpportal.history.imprints import ForgedRowError
from dpportal.history.models import Imprint
from dpportal.jobs.claims import JobState
from dpportal.operations import verification
from dpportal.platform.two_people import SPENDS
from dpportal.releases.as_confirmed import described_release
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Artifact, Release, ReleaseJob
from dpportal.releases.products import confirmed_plan
from dpportal.streams import tokens
from dpportal.streams.downloads import DOWNLOADS
from dpportal.streams.models import Period, SeriesBundle, SeriesFile, Stream
from tests.dpportal import building
from tests.dpportal.history.test_chain import unguarded
from tests.dpportal.history.test_forged_meanwhile import WORDS, forged
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


def test_nothing_is_reserved_of_what_no_grant_gave(draft):
    """As by whoever takes the guards away, raises a total, and puts all back."""
    budget = draft.account
    with forged(budget, total=Decimal(100)), pytest.raises(BudgetRefusedError, match=WORDS):
        building.confirm(draft)
    assert building.confirm(draft)


def test_nothing_is_drawn_that_no_grant_covers(requested):
    grant = LedgerEntry.objects.get(kind=LedgerEntry.Kind.GRANT, dataset=requested.dataset)
    budget = requested.charge.budget
    less = {"total": budget.reserved, "reserved": budget.reserved, "spent": 0}
    with forged(budget, total=Decimal(100)), pytest.raises(ForgedRowError, match="budget"):
        described_release(requested.pk)
    with forged(grant, amount=Decimal(100)), pytest.raises(ForgedRowError, match="line"):
        require_amounts([Budget.objects.get(pk=budget.pk)])
    with forged(budget, **less), pytest.raises(ForgedRowError, match="budget"):
        require_amounts([Budget.objects.get(pk=budget.pk)])


def test_whoever_is_made_an_administrator_past_the_portal_is_nobody(client, curator):
    client.force_login(curator)
    assert client.get("/datasets/").status_code == 200
    with forged(curator, role=Role.ADMINISTRATOR, is_staff=True, is_superuser=True):
        assert client.get("/office/").status_code == 302
    assert client.get("/datasets/").status_code == 200


def test_a_share_or_an_owner_that_came_past_the_portal_opens_nothing(client, dataset, other_curator):
    client.force_login(other_curator)
    with unguarded():
        [share] = models.QuerySet(Share).bulk_create(
            [Share(dataset=dataset, person=other_curator, right=Right.OWN, at=timezone.now())]
        )
    assert client.get(f"/datasets/{dataset.pk}/").status_code == 404
    with unguarded():
        models.QuerySet(Share).filter(pk=share.pk).delete()
    with forged(dataset, owner_id=other_curator.pk):
        assert client.get(f"/datasets/{dataset.pk}/").status_code == 404


def test_an_approval_that_came_past_the_portal_is_nobodys(dataset, administrator, settings):
    settings.TWO_PEOPLE = replace(settings.TWO_PEOPLE, acts=frozenset({SPENDS}), epsilon=Decimal("0.15"))
    building.requested_release(dataset)
    charge = LedgerEntry.objects.get(kind=LedgerEntry.Kind.CHARGE)
    assert second_person.exceeds(Decimal("0.1"), dataset, "pure")
    values = {
        "kind": SPENDS,
        "subject": str(charge.key),
        "state": Approval.State.APPROVED,
        "by": dataset.owner,
    }
    times = {"at": timezone.now(), "expires_at": timezone.now(), "answered_by": administrator}
    with unguarded():
        models.QuerySet(Approval).bulk_create([Approval(**values, **times)])
    assert second_person.exceeds(Decimal("0.1"), dataset, "pure")


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


def test_a_charge_that_is_less_for_a_second_needs_a_second_person(dataset, settings):
    settings.TWO_PEOPLE = replace(settings.TWO_PEOPLE, acts=frozenset({SPENDS}), epsilon=Decimal("0.15"))
    charge = building.requested_release(dataset).charge
    with forged(charge, amount=Decimal("0.000001")):
        assert second_person.exceeds(Decimal("0.1"), dataset, "pure")
    assert not second_person.exceeds(Decimal("0.01"), dataset, "pure")


def test_a_grant_by_nobody_who_might_is_named(dataset, curator):
    assert not list(verification.foreign_grants())
    building.granted(dataset, curator)
    [text] = verification.foreign_grants()
    assert "no administrator" in text


def test_no_page_shows_rows_of_a_table_that_a_row_names_past_the_portal(client, dataset, other_curator):
    """To whoever is a curator, and has the database, too."""
    own = building.stored_dataset(other_curator)
    client.force_login(other_curator)
    address = f"/datasets/{own.pk}/rows/"
    assert client.get(address).status_code == 200
    with forged(own, table=dataset.table):
        assert client.get(address).status_code != 200


def test_what_was_published_past_the_portal_is_shown_to_nobody(client, ready):
    assert client.get(ready.get_absolute_url()).status_code == 404
    with forged(ready, published_at=timezone.now()):
        assert client.get(ready.get_absolute_url()).status_code == 404
