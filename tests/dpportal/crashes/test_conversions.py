"""A file that takes long to read: it ends with its worker, its time or when its curator says so; no release waits."""

from __future__ import annotations

import io
import os
import signal
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import openpyxl
import pytest

from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.world import kill

# One case of each test a day, on one kind of portal or the other; a night runs all.
pytestmark = [pytest.mark.worker, pytest.mark.sampled]

READER = "dpportal.tables.formats.import_worker"
ROWS = 700_000
# Long for a machine at work, and far less than that file takes.
SOON_SECONDS = 15


@pytest.fixture(scope="module")
def slow(tmp_path_factory) -> str:
    """A workbook of a few megabytes that takes most of a minute to read."""
    path = tmp_path_factory.mktemp("slow") / "slow.xlsx"
    made = io.BytesIO()
    openpyxl.Workbook().save(made)
    cells = b"<c><v>1</v></c>" * 10
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            if name != "xl/worksheets/sheet1.xml":
                new.writestr(name, old.read(name))
        with new.open("xl/worksheets/sheet1.xml", "w") as sheet:
            sheet.write(
                b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
            )
            head = b"".join(b'<c t="inlineStr"><is><t>c%d</t></is></c>' % i for i in range(10))
            sheet.write(b"<row>" + head + b"</row>")
            for number in range(ROWS // 1000):
                sheet.write(
                    b"".join(b'<row r="%d">%s</row>' % (1000 * number + i + 2, cells) for i in range(1000))
                )
            sheet.write(b"</sheetData></worksheet>")
    return str(path)


@pytest.fixture
def workers() -> Iterator[list]:
    """Those that a test starts; they are gone after it."""
    started: list = []
    yield started
    for worker in started:
        kill(worker)


def parents() -> dict[int, int]:
    found = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            found[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    return found


def readers_of(worker: int) -> list[int]:
    """The processes that read files for this worker or its pool."""
    parent = parents()
    return [pid for pid in parent if is_reader(pid) and worker in ancestors(pid, parent)]


def ancestors(pid: int, parent: dict[int, int]) -> list[int]:
    line = [pid]
    while line[-1] in parent:
        line.append(parent[line[-1]])
    return line


def is_reader(pid: int) -> bool:
    """Whether such a process lives; one that was killed and waits for its parent to take leave of it does not."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_text()
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return READER in command and state != "Z"


def begun(stage: Stage, worker, path: str) -> tuple[UUID, int]:
    """An upload, once a reader of this worker is busy with it."""
    dataset = UUID(stage.ask("upload", path))
    wait_until(lambda: bool(readers_of(worker.pid)), "the file is being read")
    wait_until(lambda: progress(stage, dataset) > 0, "it says how far it is")
    [reader] = readers_of(worker.pid)
    return dataset, reader


def progress(stage: Stage, dataset: UUID) -> int:
    [(done,)] = stage.world.rows("SELECT progress FROM datasets_conversion WHERE dataset_id = %s", dataset)
    return done


def gone_within(pid: int, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while is_reader(pid):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def test_a_killed_worker_takes_its_reader_with_it(stage, slow, workers):
    workers.append(stage.worker())
    dataset, reader = begun(stage, workers[0], slow)
    os.kill(parents()[reader], signal.SIGKILL)
    assert gone_within(reader, SOON_SECONDS)
    kill(workers.pop())
    stage.ask("cancel", str(dataset))


def test_a_cancelled_reading_ends_soon_and_its_worker_goes_on(stage, slow, workers, tmp_path):
    workers.append(stage.worker())
    dataset, reader = begun(stage, workers[0], slow)
    [(size,)] = stage.world.rows(
        "SELECT progress_total FROM datasets_conversion WHERE dataset_id = %s", dataset
    )
    assert size == Path(slow).stat().st_size
    stage.ask("cancel", str(dataset))
    assert gone_within(reader, SOON_SECONDS)
    assert stage.conversion(dataset) == ("cancelled", "cancelled")

    (tmp_path / "next.csv").write_bytes(b"colour,age\nred,1\n")
    following = UUID(stage.ask("upload", str(tmp_path / "next.csv")))
    wait_until(lambda: stage.conversion(following)[0] == "stored", "the next file is read")
    assert stage.conversion(dataset) == ("cancelled", "cancelled")


def test_reading_ends_with_its_time_and_says_what_to_do(stage, slow, workers):
    workers.append(stage.worker(DPPORTAL_CONVERSION_SECONDS="3"))
    dataset = UUID(stage.ask("upload", slow))
    wait_until(lambda: stage.conversion(dataset)[1] == "failed", "the job is closed")
    assert not readers_of(workers[0].pid)
    state, failure = stage.conversion(dataset)[0], stage.ask("why_refused", str(dataset))
    assert state == "refused"
    assert "longer than 3 seconds" in failure and "administrator can allow more time" in failure


def test_two_slow_files_keep_no_release_waiting(stage, slow, workers):
    """As the embedded portal with two workers: one takes no conversions."""
    workers += [stage.worker(queues="celery"), stage.worker(queues="celery,conversions")]
    first, _reader = begun(stage, workers[1], slow)
    second = UUID(stage.ask("upload", slow))
    for _ in range(2):
        release = UUID(stage.ask("confirm"))
        wait_until(lambda release=release: stage.see(release).job["state"] == "done", "the release is done")
    assert stage.conversion(first)[1] == "running"
    assert stage.conversion(second)[1] == "queued"
    for dataset in (first, second):
        stage.ask("cancel", str(dataset))
