"""The supervisor ends with its children, however often it is asked to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpportal.jobs.supervisor import heed_interrupts, supervise
from tests.dpportal.crashes.stage import wait_until

# Two children that do not end when they are asked to, as a worker with a long job.
STUBBORN = """
import os, signal, sys, time
from pathlib import Path
import django
django.setup()
from dpportal.jobs.supervisor import Process, heed_interrupts, supervise

def run():
    signal.signal(signal.SIGTERM, lambda *_: Path(sys.argv[1], f"asked-{os.getpid()}").touch())
    Path(sys.argv[1], f"runs-{os.getpid()}").touch()
    while True:
        time.sleep(0.1)

heed_interrupts()
try:
    supervise([Process("one", run), Process("two", run)], lambda: None)
except KeyboardInterrupt:
    Path(sys.argv[1], "ended").touch()
"""


def pids(folder: Path, word: str) -> list[int]:
    return [int(path.name.partition("-")[2]) for path in folder.glob(f"{word}-*")]


def alive(folder: Path) -> list[int]:
    """Of the children, those that have not ended; what only waits to be taken leave of has no command any more."""
    commands = {pid: Path(f"/proc/{pid}/cmdline") for pid in pids(folder, "runs")}
    return [pid for pid, command in commands.items() if command.exists() and command.read_bytes()]


@pytest.fixture
def supervisor(tmp_path) -> Iterator[subprocess.Popen[bytes]]:
    """Whose two children run."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    process = subprocess.Popen([sys.executable, "-c", STUBBORN, str(tmp_path)], env=environment)
    try:
        wait_until(lambda: len(pids(tmp_path, "runs")) == 2, "both run")
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_second_interrupt_hurries_and_leaves_nobody_behind(supervisor, tmp_path):
    supervisor.send_signal(signal.SIGINT)
    wait_until(lambda: len(pids(tmp_path, "asked")) == 2, "both were asked to end")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        supervisor.send_signal(number)
    assert supervisor.wait(90) == 0 and (tmp_path / "ended").exists()
    assert not alive(tmp_path)


@pytest.mark.slow
def test_its_children_end_with_it_when_it_is_killed(supervisor, tmp_path):
    """Or they keep the port, and the portal cannot be started again."""
    supervisor.kill()
    wait_until(lambda: not alive(tmp_path), "both have ended")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_ends_it_wherever_it_comes():
    """Python lets no exception out of what an object does at its end."""

    class Interrupting:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    heed_interrupts()
    try:
        with pytest.raises(KeyboardInterrupt):
            supervise([], Interrupting)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
