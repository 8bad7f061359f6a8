"""How long a task may take."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from dpportal.jobs.time_limits import limited


def test_a_task_that_takes_too_long_is_told_to_end():
    started = time.monotonic()
    with pytest.raises(SoftTimeLimitExceeded), limited(0.05, 60):
        time.sleep(30)
    assert time.monotonic() - started < 10


def test_a_task_in_time_is_not_disturbed_afterwards():
    before = threading.active_count()
    with limited(0.05, 0.1):
        pass
    time.sleep(0.2)
    assert threading.active_count() <= before


def test_a_block_within_leaves_the_rest_of_its_time_to_the_one_around_it():
    with pytest.raises(SoftTimeLimitExceeded), limited(0.2, 60):
        with limited(60, 60):
            pass
        time.sleep(30)


@pytest.mark.slow
def test_a_task_that_does_not_listen_is_killed_with_its_process():
    deaf = (
        "import signal, time\nfrom dpportal.jobs.time_limits import limited\n"
        "with limited(60, 0.3):\n    time.sleep(60)"
    )
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", deaf], check=False, timeout=60)
    assert done.returncode == -9
    assert time.monotonic() - started < 30


def test_beside_the_main_thread_nothing_is_limited():
    ended: list[bool] = []

    def work() -> None:
        with limited(0.01, 60):
            time.sleep(0.1)
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]
