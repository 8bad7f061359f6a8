"""Sealed values of an erased dataset leave the files of a PostgreSQL server: looked for as bytes in all of them."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.dpportal.world import World, with_servers

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.redis]

BEGIN = """
import django
django.setup()
from datetime import timedelta
from django.core.files.uploadedfile import SimpleUploadedFile
from dpportal.accounts.models import Role, User
from dpportal.datasets import dead_rows, key_traces, services
from dpportal.datasets.models import Conversion, Dataset
from dpportal.datasets.receipts import ErasureReceipt
from dpportal.streams import job_execution, services as streams
from mechanisms.domain import Categorical
from tests.dpportal import building
from tests.dpportal.streams.building import open_stream
dead_rows.ERASING_TAKES = timedelta(0)
"""
MAKE = f"""{BEGIN}
curator, administrator = building.person("curator", Role.CURATOR), building.person("boss", Role.ADMINISTRATOR)
dataset = building.stored_dataset(curator)
building.granted(dataset, administrator, "5", knowing=True)
stream = open_stream(dataset, amount="0.1")
counts = SimpleUploadedFile("counts.csv", b"period,count\\n1,73193\\n2,4711\\n")
job = streams.queue_counts(stream, counts, {{}}, curator, confirmed=True)
job_execution.STREAM_JOBS.run(job.pk)
Conversion.objects.update_or_create(dataset=dataset, defaults={{"size": 1, "failure": "Row 48,612 has 1 field"}})
services.declare_all(dataset, [Categorical("colour", values=("sealed-away", "x"))], filled=["colour"])
"""
ERASE = f"""{BEGIN}
services.erase(Dataset.objects.get(), User.objects.get(username="curator"))
"""
SWEEP = f"""{BEGIN}
for _ in range(3):
    key_traces.sweep()
assert ErasureReceipt.objects.get().key_gone_at
"""
REMOVE = f"""{BEGIN}
from dpportal.datasets import keys
curator = building.person("curator", Role.CURATOR)
dataset = building.stored_dataset(curator)
keys.for_writing(dataset.pk)
Dataset.objects.update(state=Dataset.State.REFUSED)
"""
REMOVED = f"""{BEGIN}
services.remove(Dataset.objects.get(), User.objects.get(username="curator"))
"""
CLEARED = f"""{BEGIN}
from dpportal.datasets.left_traces import LeftTrace
for _ in range(3):
    key_traces.sweep()
assert not LeftTrace.objects.exists()
"""
WRAP = f"""{BEGIN}
from django.conf import settings
from dpportal.datasets import keys
from dpportal.platform.keys import Keyring
settings.MASTER_KEYS = Keyring("old " * 15)
keys.for_writing(building.stored_dataset(building.person("curator", Role.CURATOR)).pk)
"""
REWRAP = f"""{BEGIN}
from django.conf import settings
from dpportal.operations import reseal
from dpportal.platform.keys import Keyring
settings.MASTER_KEYS = Keyring("new " * 15, "old " * 15)
reseal.reseal()
"""
SEALED = """
SELECT table_name, column_name FROM information_schema.columns
WHERE table_schema = 'public' AND data_type = 'bytea' AND table_name LIKE ANY ('{datasets_%,streams_%,releases_%}')
"""


def sealed_values(world: World) -> set[bytes]:
    """Every sealed value of the portal's tables as it is stored."""
    with psycopg.connect(world.database_url) as server:
        columns = server.execute(SEALED).fetchall()
        rows = [server.execute(f'SELECT "{column}" FROM "{table}"').fetchall() for table, column in columns]
    return {bytes(value) for found in rows for (value,) in found if value is not None}


def on_disk(world: World, values: set[bytes]) -> set[bytes]:
    """Those whose bytes some file of the database has, from behind the first ones, which may be compressed."""
    with psycopg.connect(world.database_url, autocommit=True) as server:
        server.execute("CHECKPOINT")
        row = server.execute(
            "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert row is not None
    content = b"".join(file.read_bytes() for file in Path(row[0], "base", str(row[1])).iterdir())
    return {value for value in values if value[4:60] in content}


def test_no_sealed_value_of_erased_records_is_left_in_the_files_nor_in_what_the_planner_sampled(
    tmp_path, postgres_url, redis_url
) -> None:
    with with_servers(tmp_path, postgres_url, redis_url) as world:
        world.run("-c", MAKE)
        with psycopg.connect(world.database_url, autocommit=True) as server:
            server.execute("ANALYZE")
        before = sealed_values(world)
        world.run("-c", ERASE)
        gone = before - sealed_values(world)
        assert len(gone) >= 7
        declared = b"sealed-away"
        assert on_disk(world, gone) == gone and on_disk(world, {b"1234" + declared})
        world.run("-c", SWEEP)
        assert on_disk(world, gone) == set()
        assert not on_disk(world, {b"1234" + declared})


@pytest.mark.parametrize(("before", "act"), [(REMOVE, REMOVED), (WRAP, REWRAP)])
def test_what_a_removed_upload_had_and_former_wrappings_leave_the_files_without_a_receipt(
    tmp_path, postgres_url, redis_url, before, act
) -> None:
    with with_servers(tmp_path, postgres_url, redis_url) as world:
        world.run("-c", before)
        had = sealed_values(world)
        world.run("-c", act)
        gone = had - sealed_values(world)
        assert gone and on_disk(world, gone) == gone
        world.run("-c", CLEARED)
        assert on_disk(world, gone) == set()
