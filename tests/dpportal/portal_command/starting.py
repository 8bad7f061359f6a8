"""Starts `manage.py portal` as a person does, in a folder of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
PATIENCE_SECONDS = 90.0
ADDRESS = re.compile(r"running at (http://\S+)")


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def command(data: Path, port: int, *options: str) -> list[str]:
    return [
        sys.executable,
        "manage.py",
        "portal",
        "--data-dir",
        str(data),
        "--port",
        str(port),
        "--no-demo",
        *options,
    ]


def environment() -> dict[str, str]:
    """This process's, without what would make the portal another than a fresh one."""
    ours = ("DPPORTAL_", "DJANGO_", "DATABASE_URL", "CELERY_")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return {**kept, "PYTHONUNBUFFERED": "1"}


def refused(data: Path, port: int) -> tuple[int, str]:
    """Start a portal that cannot start; returns its exit code and what it said."""
    done = subprocess.run(
        command(data, port),
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout


class Portal:
    """A running portal and what it printed until it named its address."""

    def __init__(self, data: Path, port: int) -> None:
        self.data, self.port = data, port
        self.output = data.parent / f"output-{time.monotonic_ns()}"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command(data, port, "--workers", "1"),
                cwd=ROOT,
                env=environment(),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until(lambda: bool(ADDRESS.search(self.said())), "the portal names its address", self.said)

    def said(self) -> str:
        return self.output.read_text()

    def children(self, word: str) -> list[int]:
        """The processes that the supervisor started and whose command line has the word."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [int(pid) for pid in listed.split() if word in _command_line(int(pid))]

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/", timeout=20) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def health(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/", timeout=20) as response:
            told: dict[str, Any] = json.load(response)
            return told

    def passwords(self) -> list[tuple[str, str]]:
        """Names with the stored hashes of their passwords."""
        with closing(sqlite3.connect(self.data / "portal.sqlite3", timeout=20)) as database:
            return database.execute("SELECT username, password FROM accounts_user ORDER BY 1").fetchall()

    def interrupt(self) -> int:
        """Ctrl-C; returns the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_SECONDS)

    def end(self) -> None:
        if self.process.poll() is None:
            self.interrupt()


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except FileNotFoundError:
        return ""


def wait_until(
    happened: Callable[[], bool],
    what: str,
    said: Callable[[], str] = lambda: "",
    seconds: float = PATIENCE_SECONDS,
) -> None:
    """Look again and again. Raises TimeoutError with `what`, and what the portal said, if it does not happen."""
    until = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {seconds:g} s until {what}; it said: {said()}")
        time.sleep(0.1)
