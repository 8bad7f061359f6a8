"""Whether a process still moves, seen from outside."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator

import pytest

from dpportal.jobs import process_activity, supervisor
from dpportal.jobs.process_activity import Life


@pytest.fixture
def child(monkeypatch) -> Iterator[Callable[[Callable[[], object]], tuple[Life, int]]]:
    """Starts a copy of this process that beats and does something until it is killed."""
    monkeypatch.setattr(process_activity, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(process_activity, "STILL_AFTER_LOOKS", 4)
    started: list[int] = []

    def start(work: Callable[[], object], *, beats: bool = True) -> tuple[Life, int]:
        watched = Life()
        pid = os.fork()
        if not pid:
            if beats:
                watched.begin()
            while True:
                work()
        started.append(pid)
        return watched, pid

    yield start
    for pid in started:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def looks(watched: Life, pid: int) -> list[bool]:
    """Whether it stands still, in 8 looks."""
    seen = []
    for _ in range(8):
        time.sleep(0.05)
        seen.append(watched.is_still(pid))
    return seen


def test_one_that_is_stopped_stands_still_until_it_goes_on(child):
    watched, pid = child(lambda: time.sleep(1))
    assert not any(looks(watched, pid))
    os.kill(pid, signal.SIGSTOP)
    assert looks(watched, pid)[-1]
    os.kill(pid, signal.SIGCONT)
    assert not looks(watched, pid)[-1]


@pytest.mark.slow
def test_one_that_calculates_without_beating_moves(child):
    watched, pid = child(lambda: sum(range(10_000)), beats=False)
    assert not any(looks(watched, pid))


def test_a_web_server_that_a_signal_has_stopped_is_ended_and_started_anew(monkeypatch):
    """Its own processes may be stopped with it, and then nobody else is there to end them."""
    monkeypatch.setattr(supervisor.connections, "close_all", lambda: None)
    monkeypatch.setattr(process_activity, "STILL_AFTER_LOOKS", 4)
    server = supervisor.Process("web server", lambda: time.sleep(600), vital=True)
    server.start()
    assert server.process is not None and server.process.pid is not None
    stopped = server.process
    for _ in range(8):
        server.keep()
    assert server.process is stopped
    os.kill(server.process.pid, signal.SIGSTOP)
    until = time.monotonic() + 30
    while server.process is stopped and time.monotonic() < until:
        time.sleep(0.05)
        server.keep()
    assert server.process is None and not stopped.is_alive()
