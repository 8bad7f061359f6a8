"""The supervisor ends with its children, however often it is asked to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.dpportal.crashes.stage import wait_until

# Two children that do not end when they are asked to, as a worker with a long job.
STUBBORN = """
import os, signal, sys, time
from pathlib import Path
import django
django.setup()
from dpportal.running.supervisor import Process, heed_interrupts, supervise

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


@pytest.mark.slow
def test_a_second_interrupt_hurries_and_leaves_nobody_behind(tmp_path):
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    supervisor = subprocess.Popen([sys.executable, "-c", STUBBORN, str(tmp_path)], env=environment)
    wait_until(lambda: len(pids(tmp_path, "runs")) == 2, "both run")
    supervisor.send_signal(signal.SIGINT)
    wait_until(lambda: len(pids(tmp_path, "asked")) == 2, "both were asked to end")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        supervisor.send_signal(number)
    assert supervisor.wait(90) == 0 and (tmp_path / "ended").exists()
    for pid in pids(tmp_path, "runs"):
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
