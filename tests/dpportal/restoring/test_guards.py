"""Each guard of a restore by itself, in one process: what is behind draws nothing, and what is remembered stays.

The files beside this one kill portals and put databases back; here a memory is written as such a portal left it.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dpportal.accounts.models import AuditEntry
from dpportal.budgets import charge_journal as charges, charge_places, ledger
from dpportal.budgets.charge_journal import Charge, RestoredError
from dpportal.budgets.models import LedgerEntry, MemoryMark
from dpportal.operations import restore_check
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from dpportal.streams import period_journal as periods, vault
from dpportal.streams.models import Stream
from dpportal.streams.period_journal import CLOSED, DecidedError, Decision
from mechanisms.accounting import Definition
from tests.dpportal.streams import building

pytestmark = pytest.mark.django_db


@pytest.fixture
def stream(dataset) -> Stream:
    """Open, at the first version of its state, with a token."""
    stream = building.open_stream(dataset)
    Stream.objects.filter(pk=stream.pk).update(token_sha256="a" * 64)
    stream.refresh_from_db()
    assert vault.version_of(stream.pk) == 0
    return stream


@pytest.fixture
def reserved(dataset) -> LedgerEntry:
    how = {"definition": Definition.PURE, "by": dataset.owner}
    return ledger.reserve(dataset, Decimal("0.3"), ledger.Booking(uuid4(), "Colours"), **how)


@pytest.fixture
def spent(reserved) -> LedgerEntry:
    """A charge that is spent in the ledger and in the memory."""
    ledger.spend(reserved)
    reserved.refresh_from_db()
    return reserved


def name_of(stream: Stream, version: int | str) -> str:
    return f"streams/{stream.pk}/{version}"


def remember(stream: Stream, version: int, of: int | None = None) -> None:
    """A decision of that version, which publishes nothing; `of` is the version that it says it was decided in."""
    decision = Decision(version - 1 if of is None else of, "{}", ())
    assert journal.create(name_of(stream, version), decision.to_json())


def remember_charge(entry: LedgerEntry, dataset_id=None, **other) -> Charge:
    """One that only the memory has."""
    charge = replace(Charge.of(entry, {}), key=uuid4().hex, **other)
    charge_places.take(dataset_id or entry.dataset_id, charge.key)
    assert journal.create(f"charges/{dataset_id or entry.dataset_id}/{charge.key}", asdict(charge))
    return charge


class TestStreams:
    def test_one_that_had_published_is_not_opened_again(self, stream):
        periods.begin(stream)
        remember(stream, 1)
        with pytest.raises(RestoredError, match="Open a new running count"):
            periods.begin(stream)

    def test_what_was_decided_first_stays(self, stream):
        periods.decide(stream, Decision(0, "first", ()))
        with pytest.raises(DecidedError):
            periods.decide(stream, Decision(0, "second", ()))
        assert periods.pending(stream).state == "first"

    def test_a_writer_that_sleeps_while_the_stream_ends_publishes_nothing_and_leaves_nothing(self, stream):
        periods.forget_decision(stream.pk)
        with pytest.raises(DecidedError):
            periods.decide(stream, Decision(0, "late", ()))
        assert journal.recall(name_of(stream, 1)) == {}

    def test_what_was_decided_in_another_version_is_not_pending(self, stream):
        remember(stream, 1, of=7)
        assert periods.pending(stream) is None

    def test_what_is_followed_by_a_further_decision_is_not_pending(self, stream):
        remember(stream, 1)
        assert periods.pending(stream) is not None
        remember(stream, 2)
        assert periods.pending(stream) is None

    def test_nothing_is_pending_of_one_that_is_closed(self, stream):
        remember(stream, 1)
        stream.state = Stream.State.CLOSED
        assert periods.pending(stream) is None

    def test_one_that_is_behind_draws_nothing(self, stream):
        periods.require_newest(stream)
        remember(stream, 1)
        with pytest.raises(RestoredError, match="older copy"):
            periods.require_newest(stream)

    def test_one_that_had_ended_draws_nothing(self, stream):
        journal.create(name_of(stream, CLOSED))
        with pytest.raises(RestoredError, match="older copy"):
            periods.require_newest(stream)

    def test_one_of_which_the_memory_lacks_periods_draws_nothing(self, stream, memory_of_its_own):
        (memory_of_its_own / name_of(stream, 0)).unlink()
        with pytest.raises(MemoryFaultError, match="lacks periods"):
            periods.require_newest(stream)


class TestWhatItReads:
    """Each charge and each period asks, so it must not grow with what else there is."""

    def test_a_complete_ledger_is_read_once(self, spent):
        read = []
        charges._compared.clear()
        for _ in range(2):
            with CaptureQueriesContext(connection) as asked:
                charges.require_complete(spent.dataset)
            lines = [query["sql"] for query in asked if "budgets_ledgerentry" in query["sql"]]
            read.append([sql for sql in lines if "COUNT(" not in sql and "LIMIT 1" not in sql])
        assert [len(sqls) for sqls in read] == [1, 0]  # then only whether both end alike

    def test_health_reads_no_plans_of_streams_and_no_columns_of_datasets(self, stream, spent):
        with CaptureQueriesContext(connection) as asked:
            assert restore_check.findings().troubles == []
        texts = [
            query["sql"] for query in asked if "closed_by_restore" not in query["sql"].partition("WHERE")[2]
        ]
        assert not [text for text in texts if "plan_json" in text or '"columns"' in text or '"facts"' in text]


class TestTheCheck:
    def test_closes_what_is_behind_with_its_token_and_its_secret_state(self, stream):
        remember(stream, 1)
        remember(stream, 2)
        assert restore_check.check().closed == [stream]
        stream.refresh_from_db()
        assert (stream.state, stream.closed_by_restore, stream.token_sha256) == ("closed", True, "")
        assert vault.version_of(stream.pk) is None

    def test_leaves_in_the_memory_what_the_newer_database_goes_on_from(self, stream):
        remember(stream, 1)
        remember(stream, 2)
        restore_check.check()
        assert journal.recall(name_of(stream, 2)) and not journal.holds(name_of(stream, CLOSED))

    def test_leaves_open_what_can_be_published_from_the_memory(self, stream):
        remember(stream, 1)
        assert restore_check.check().closed == []
        stream.refresh_from_db()
        assert stream.is_open

    def test_erases_what_is_remembered_of_one_that_is_closed(self, stream):
        remember(stream, 1)
        Stream.objects.filter(pk=stream.pk).update(state=Stream.State.CLOSED)
        assert restore_check.check().closed == []
        assert journal.recall(name_of(stream, 1)) == {} and journal.holds(name_of(stream, CLOSED))

    def test_counts_no_ended_stream_among_what_is_lost(self, stream, memory_of_its_own, monkeypatch):
        """It ends between the first look at its periods and the second."""
        (memory_of_its_own / name_of(stream, 0)).unlink()
        assert restore_check.findings().lost == ["Small table: Red ones so far"]
        behind = periods.is_behind

        def ends(seen: Stream) -> bool:
            Stream.objects.filter(pk=seen.pk).update(state=Stream.State.CLOSED)
            return behind(seen)

        monkeypatch.setattr(periods, "is_behind", ends)
        assert restore_check.findings().lost == []


class TestCharges:
    def test_a_void_one_is_not_missing(self, spent):
        remember_charge(spent, is_void=True)
        assert charges.missing(spent.dataset) == []

    def test_one_that_is_reserved_is_not_missing(self, reserved):
        charges.settle(reserved, {})
        assert charges.missing(reserved.dataset) == []

    def test_the_ledger_is_complete_only_with_all_that_are_remembered(self, spent):
        charges.require_complete(spent.dataset)
        remember_charge(spent)
        with pytest.raises(RestoredError, match="lacks 1 charges of Small table"):
            charges.require_complete(spent.dataset)

    def test_a_memory_that_lacks_one_pays_for_nothing(self, spent, memory_of_its_own):
        (memory_of_its_own / "charges" / str(spent.dataset_id) / spent.key.hex).unlink()
        assert charges.is_behind(spent.dataset)
        with pytest.raises(MemoryFaultError, match="lacks charges of Small table"):
            charges.require_complete(spent.dataset)

    def test_one_that_a_list_leaves_out_is_looked_for_by_name(self, spent, monkeypatch):
        monkeypatch.setattr(journal, "names", lambda folder: [])
        assert not charges.is_behind(spent.dataset)

    def test_nothing_is_read_for_a_database_of_another_memory(self, spent):
        MemoryMark.objects.update(mark="of another")
        with pytest.raises(MemoryFaultError):
            list(charges.outcomes_beyond(set()))
        with pytest.raises(MemoryFaultError):
            charges.require_complete(spent.dataset)

    def test_a_word_that_the_database_is_the_newest_replaces_what_cannot_be_read(self, spent):
        name = f"charges/{spent.dataset_id}/{spent.key.hex}"
        journal.replace(name)
        with pytest.raises(MemoryFaultError):
            charges.charge_of(spent)
        restore_check.accept()
        assert charges.charge_of(spent) == Charge.of(spent, {})
        assert MemoryMark.objects.get().mark == journal.mark()


class TestAMissingDataset:
    def test_is_noted_once_and_again_when_more_of_it_is_remembered(self, spent, administrator):
        gone = uuid4()
        remember_charge(spent, gone)
        assert [restore_check.enter_missing(gone, administrator) for _ in range(2)] == [1, 0]
        assert [lacking.dataset_id for lacking in restore_check.findings().lacking] == []
        remember_charge(spent, gone)
        assert [(lacking.dataset_id, lacking.known) for lacking in restore_check.findings().lacking] == [
            (gone, False)
        ]
        assert restore_check.enter_missing(gone, administrator) == 2
        assert AuditEntry.objects.filter(action="noted missing dataset").count() == 2

    def test_of_which_nothing_is_remembered_is_no_line_in_the_record(self, administrator):
        assert restore_check.enter_missing(uuid4(), administrator) == 0
        assert not AuditEntry.objects.filter(action="noted missing dataset").exists()


def test_a_migration_lets_no_database_go_with_another_memory(spent):
    MemoryMark.objects.update(mark="of another")
    restore_check.begin()
    assert not charges.has_mark()
    MemoryMark.objects.all().delete()
    restore_check.begin()  # who took the mark out past the portal is believed nothing
    assert not charges.has_mark()
    restore_check.accept()
    assert charges.has_mark()


def test_jobs_of_both_kinds_go_on_once_charges_are_entered(spent, administrator, monkeypatch):
    remember_charge(spent)
    resumed: list[str] = []
    monkeypatch.setattr(
        restore_check.release_tasks, "resume_on_hold", lambda key: resumed.append(f"release {key}")
    )
    monkeypatch.setattr(
        restore_check.stream_tasks, "resume_on_hold", lambda key: resumed.append(f"stream {key}")
    )
    assert restore_check.enter_missing(spent.dataset_id, administrator) == 1
    assert resumed == [f"release {spent.dataset_id}", f"stream {spent.dataset_id}"]
