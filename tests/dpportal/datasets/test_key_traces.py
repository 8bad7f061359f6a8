"""Destroyed keys leave the database's own files: looked for as bytes in the files of real databases."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from django.urls import reverse
from django.utils import timezone

from dpportal.datasets import key_traces, keys, records, services
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.left_traces import LeftTrace
from dpportal.datasets.models import Dataset
from dpportal.datasets.receipts import ErasureReceipt
from tests.dpportal import building
from tests.dpportal.portal_command.starting import wait_until
from tests.dpportal.world import World, embedded, with_servers

ERASE = """
import json, sys
from datetime import timedelta
import django
django.setup()
from dpportal.accounts.models import Role
from dpportal.datasets import dead_rows, key_traces, keys, services
from dpportal.datasets.receipts import ErasureReceipt
from tests.dpportal import building
dead_rows.ERASING_TAKES = timedelta(seconds=3)
curator = building.person("curator", Role.CURATOR)
datasets = [building.stored_dataset(curator) for _ in range(8)]
wrapped = []
for dataset in datasets:
    keys.for_writing(dataset.pk)
    wrapped.append(bytes(keys.key_of(dataset.pk).wrapped).hex())
def say(**facts):
    print(json.dumps(facts), flush=True)
    sys.stdin.readline()
say(wrapped=wrapped)
for dataset in datasets[:4]:
    services.erase(dataset, curator)
say()
for dataset in datasets[4:6]:
    keys.destroy(dataset.pk)
while True:
    key_traces.sweep()
    say(gone=ErasureReceipt.objects.exclude(key_gone_at=None).count())
"""


class Eraser:
    """A process of the portal with eight keys: four go with a receipt, two without; it sweeps when told to."""

    def __init__(self, world: World) -> None:
        self._process = world.start("-c", ERASE, pipes=True)
        self.wrapped = [bytes.fromhex(each) for each in self.heard()["wrapped"]]

    def heard(self) -> dict:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def goes_on(self) -> dict:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")
        self._process.stdin.flush()
        return self.heard()


def found(wrapped: list[bytes], *files: Path) -> list[bool]:
    content = b"".join(file.read_bytes() for file in files if file.exists())
    return [each in content for each in wrapped]


ALL, KEPT = [True] * 8, [False] * 6 + [True] * 2


@pytest.mark.slow
def test_no_file_of_sqlite_has_a_destroyed_key_after_the_sweep_and_a_reader_only_puts_it_off(
    tmp_path,
) -> None:
    with embedded(tmp_path) as world:
        database = tmp_path / "data" / "portal.sqlite3"
        files = [database, *(database.with_name(database.name + end) for end in ("-wal", "-journal", "-shm"))]
        eraser = Eraser(world)
        with closing(sqlite3.connect(database)) as writer:
            writer.execute("PRAGMA wal_checkpoint(PASSIVE)")
            copy = database.with_name("portal-20260101-120000.sqlite3")
            with closing(sqlite3.connect(copy)) as target:
                writer.backup(target)
        assert found(eraser.wrapped, copy) == ALL
        eraser.goes_on()
        assert any(found(eraser.wrapped[:4], *files))
        with closing(sqlite3.connect(database)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM datasets_datasetkey").fetchone()
            assert eraser.goes_on() == {"gone": 0}
        assert eraser.goes_on() == {"gone": 4}
        assert found(eraser.wrapped, *files) == KEPT
        assert found(eraser.wrapped, copy, copy.with_name(copy.name + "-wal")) == KEPT


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.redis
def test_the_table_of_keys_in_postgresql_is_written_anew_once_nobody_may_see_a_dead_row(
    tmp_path, postgres_url, redis_url
) -> None:
    with with_servers(tmp_path, postgres_url, redis_url) as world:
        eraser = Eraser(world)
        with psycopg.connect(world.database_url) as reader:
            reader.execute("SELECT count(*) FROM datasets_datasetkey")
            eraser.goes_on()
            assert found(eraser.wrapped, relation(world)) == ALL
            assert eraser.goes_on() == {"gone": 0}
        wait_until(lambda: eraser.goes_on() == {"gone": 4}, "all four have gone", seconds=60)
        assert found(eraser.wrapped, relation(world)) == KEPT


def relation(world: World) -> Path:
    """The file of the table of keys as it is on the server's disk now."""
    with psycopg.connect(world.database_url, autocommit=True) as server:
        server.execute("CHECKPOINT")
        row = server.execute(
            "SELECT current_setting('data_directory'), pg_relation_filepath('datasets_datasetkey')"
        ).fetchone()
    assert row is not None
    return Path(row[0]) / row[1]


@pytest.mark.slow
def test_the_page_says_when_the_last_copy_was_gone(client, curator, dataset) -> None:
    keys.for_writing(dataset.pk)
    services.erase(dataset, curator)
    client.force_login(curator)
    page = reverse("datasets:home", args=[dataset.pk])
    assert "still in the database’s own files" in client.get(page).content.decode()
    ErasureReceipt.objects.update(key_gone_at=timezone.now())
    assert "was gone from the database’s own files on" in client.get(page).content.decode()


@pytest.mark.slow
@pytest.mark.parametrize("change, cleared", [({"header": False}, True), ({"thousands": "'"}, False)])
def test_a_record_that_was_read_as_names_leaves_the_files_once_it_is_corrected(
    client, curator, change, cleared
) -> None:
    client.force_login(curator)
    dataset = building.uploaded(client, b"Anna Canary,31\nBob,44\n")
    options = replace(records.options_of(dataset), header=True, header_lines=1)
    services.change_parse_options(dataset, options, curator)
    if Dataset.objects.get().state == Dataset.State.CONVERTING:
        CONVERSIONS.run(dataset.pk)
    LeftTrace.objects.all().delete()
    dataset.refresh_from_db()
    assert dataset.columns[0]["name"] == "Anna Canary"
    services.change_parse_options(dataset, replace(options, **change), curator)
    if Dataset.objects.get().state == Dataset.State.CONVERTING:
        CONVERSIONS.run(dataset.pk)
    assert LeftTrace.objects.exists() is cleared
    assert ("Canary" in str(Dataset.objects.get().columns)) is not cleared


@pytest.mark.slow
def test_inside_a_transaction_nothing_is_swept(curator, dataset) -> None:
    keys.for_writing(dataset.pk)
    services.erase(dataset, curator)
    key_traces.sweep()
    assert ErasureReceipt.objects.get().key_gone_at is None


@pytest.mark.slow
def test_a_copy_that_is_no_database_is_tried_again_and_named_in_the_log(
    tmp_path, transactional_db, monkeypatch, settings, caplog
) -> None:
    curator = building.person("curator", "curator")
    dataset = building.stored_dataset(curator)
    keys.for_writing(dataset.pk)
    services.erase(dataset, curator)
    copy = tmp_path / "portal-20260101-120000.sqlite3"
    copy.write_bytes(b"no database at all, but long enough to be taken for one" * 40)
    # Undone before the test ends: by its name Django knows a database in memory, which it never closes.
    with monkeypatch.context() as elsewhere:
        elsewhere.setitem(settings.DATABASES["default"], "NAME", str(tmp_path / "portal.sqlite3"))
        key_traces.sweep()
        assert "still in the database's files" in caplog.text
        assert ErasureReceipt.objects.get().key_gone_at is None
        copy.unlink()
        key_traces.sweep()
    assert ErasureReceipt.objects.get().key_gone_at is not None
