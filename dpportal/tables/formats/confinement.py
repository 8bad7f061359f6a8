"""The limits of a reading process: resident memory, time by the clock, and room on the disk.

The parent checks the process many times a second, and ends it at a limit. Reserved addresses are no measure: allocators
keep addresses without memory, and more of them the longer they run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from pathlib import Path

from dpportal.tables.meaning.parse_options import Limits

ROOT = Path(__file__).resolve().parents[3]
# A process fills some gigabytes in a second, so between two looks not more than the margin that is held back.
LOOK_SECONDS, DISK_SECONDS = 0.01, 0.5
MARGIN = 0.05
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class Exhausted(Enum):
    """The limit at which a process was ended."""

    MEMORY = "memory"
    TIME = "time"
    DISK = "disk"


class Confinement:
    """Ends a process at its limits. exhausted: which of them it met, None before."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, limits: Limits) -> None:
        self._process, self._folder, self._limits = process, folder, limits
        self._resident = Path(f"/proc/{process.pid}/statm")
        self._deadline = time.monotonic() + limits.seconds
        self._disk_due = 0.0
        self.exhausted: Exhausted | None = None

    @contextmanager
    def held(self) -> Iterator[Confinement]:
        """Look at the process while the block runs."""
        finished = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(finished,), daemon=True)
        watcher.start()
        try:
            yield self
        finally:
            finished.set()
            watcher.join()

    def _watch(self, finished: threading.Event) -> None:
        while self.exhausted is None and not finished.wait(LOOK_SECONDS):
            self.exhausted = self._look()
        if self.exhausted:
            self._process.kill()

    def _look(self) -> Exhausted | None:
        now = time.monotonic()
        if now >= self._deadline:
            return Exhausted.TIME
        if resident_bytes(self._resident) > (1 - MARGIN) * self._limits.memory_bytes:
            return Exhausted.MEMORY
        if now >= self._disk_due:
            self._disk_due = now + DISK_SECONDS
            if free_bytes(self._folder) < self._limits.free_bytes:
                return Exhausted.DISK
        return None


@contextmanager
def child_of(command: list[str], stdin: int = subprocess.PIPE) -> Iterator[subprocess.Popen[bytes]]:
    """A process of the portal's own code, which never outlives the block.

    Its errors go nowhere: they could quote a cell. It inherits no secrets through the environment.
    """
    child = subprocess.Popen(  # noqa: S603 callers fix the command
        command,
        cwd=ROOT,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        if child.stdout:
            child.stdout.close()


def resident_bytes(statm: Path) -> int:
    """Memory that a process has, files that it mapped among it; 0 once it has ended."""
    with suppress(OSError):
        if pages := statm.read_text().split():
            return int(pages[1]) * PAGE_BYTES
    return 0


def free_bytes(folder: Path) -> int:
    """What is left of the disk that a folder lies on."""
    return shutil.disk_usage(folder).free
