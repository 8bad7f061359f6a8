"""The memory outside the database: each file is created once, durably, and whoever comes second finds the first's."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dpportal.budgets import charge_journal, ledger
from dpportal.operations import restore_check
from dpportal.platform import journal
from dpportal.platform.journal import MemoryFaultError
from dpportal.releases import execution
from dpportal.streams.execution import Update, publish
from tests.dpportal import building
from tests.dpportal.streams.building import open_stream

pytestmark = pytest.mark.django_db


def test_of_many_writers_one_creates_and_all_find_the_same(db):
    with ThreadPoolExecutor(8) as writers:
        created = list(writers.map(lambda i: journal.create("charges/some/key", {"writer": i}), range(8)))
    assert created.count(True) == 1
    assert journal.recall("charges/some/key") == {"writer": created.index(True)}
    assert journal.names(journal.PARTS) == []


def test_each_new_folder_is_durable_in_the_one_above(memory_of_its_own, monkeypatch):
    durable, fsync = [], os.fsync

    def noted(number):
        durable.append(Path(f"/proc/self/fd/{number}").readlink())
        fsync(number)

    monkeypatch.setattr(os, "fsync", noted)
    journal.create("charges/some/key", {})
    for folder in ("charges/some", "charges", "."):
        assert (memory_of_its_own / folder).resolve() in durable


def test_what_a_file_server_puts_there_is_no_charge_and_no_period(dataset, memory_of_its_own):
    stream = open_stream(dataset)
    for folder in ("charges", f"charges/{dataset.pk}", f"streams/{stream.pk}"):
        for name in (".nfs0001", "@eaDir", "lost+found"):
            (memory_of_its_own / folder / name).mkdir()
    assert charge_journal.dataset_ids() == [dataset.pk]
    ledger.require_complete(dataset)
    publish(stream.pk, [Update(1, (4,), "typed")])
    assert restore_check.check().troubles == []


def test_where_no_memory_was_begun_none_is_written(memory_of_its_own):
    (memory_of_its_own / journal.MARK).unlink()
    with pytest.raises(MemoryFaultError, match="missing"):
        journal.create("charges/some/key", {})
    assert not (memory_of_its_own / "charges").exists()


def test_a_charge_is_spent_or_void_as_was_remembered_first(requested):
    charge_journal.settle(requested.charge, {"measurement": "one"})
    assert charge_journal.settle(requested.charge, {}, is_void=True).outcome == {"measurement": "one"}
    ledger.void(requested.charge)
    requested.charge.refresh_from_db()
    assert requested.charge.state == "spent"


def test_a_void_reservation_is_not_spent_by_who_wakes_late(requested):
    charge_journal.settle(requested.charge, {}, is_void=True)
    execution.RELEASES.run(requested.pk)
    requested.refresh_from_db()
    assert (requested.state, requested.charge.state) == ("failed", "void")
    assert not requested.dataset.budgets.get().spent


def test_what_many_charges_were_for_is_not_read_to_spend_the_next(dataset, monkeypatch):
    first, second = building.requested_release(dataset), building.requested_release(dataset)
    for release in (first, second):
        execution.RELEASES.run(release.pk)
    read, recall = [], journal.recall
    monkeypatch.setattr(journal, "recall", lambda name: (read.append(name), recall(name))[1])
    ledger.require_complete(dataset)
    assert set(read) == {journal.MARK, f"places/{dataset.pk}/3"}  # the first that is free


def test_a_stream_keeps_a_name_for_each_decision_and_the_content_of_the_newest(dataset, memory_of_its_own):
    stream = open_stream(dataset, horizon=3)
    sizes = []
    for index in (1, 2, 3):
        publish(stream.pk, [Update(index, (5,), "typed")])
        sizes.append(_sizes(memory_of_its_own / "streams" / str(stream.pk)))
    assert [set(names) for names in sizes[:2]] == [{"0", "1"}, {"0", "1", "2"}]
    assert [[name for name, size in names.items() if size] for names in sizes[:2]] == [["1"], ["2"]]


def _sizes(folder):
    return {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
