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
PATIENCE_SECONDS = 300.0
ADDRESS = re.compile(r"running at (http://\S+)")
KEEP_PASSWORDS = """
from dpportal.accounts.models import User
User.objects.update(must_change_password=False)
"""


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
    return {**kept, "PYTHONUNBUFFERED": "1", "DPPORTAL_METRICS_NETWORKS": "127.0.0.0/8"}


def refused(data: Path, port: int, *options: str) -> tuple[int, str]:
    """Start a portal that cannot start; returns its exit code and what it said."""
    done = subprocess.run(
        command(data, port, *options),
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

    def __init__(self, data: Path, port: int, *options: str, **variables: str) -> None:
        """options: of its command; one worker without them. variables: of its environment, beside a fresh one's."""
        self.data, self.port, self.environment = data, port, {**environment(), **variables}
        self.output = data.parent / f"output-{time.monotonic_ns()}"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command(data, port, *(options or ("--workers", "1"))),
                cwd=ROOT,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        wait_until(lambda: bool(ADDRESS.search(self.said())), "the portal names its address", self.said)

    def said(self) -> str:
        return self.output.read_text()

    def password(self, name: str) -> str:
        """Of a person whom its first start made, who need not choose another."""
        shown = re.search(rf"^\s*{name}\s+password (\S+)$", self.said(), re.MULTILINE)
        assert shown is not None, self.said()
        keep_first_passwords(self.data, self.environment)
        return shown[1]

    def children(self, word: str) -> list[int]:
        """The processes that the supervisor started and whose title has the word."""
        return [pid for pid in _children(self.process.pid) if word in _title(pid)]

    def answers(self) -> bool:
        return answers(self.port)

    def health(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/", timeout=20) as response:
            told: dict[str, Any] = json.load(response)
            return told

    def scratch_bytes(self) -> int:
        """Of all files in its scratch folder, and of those that it holds open without a name."""
        scratch = self.data / "scratch"
        named = sum(path.stat().st_size for path in scratch.rglob("*") if path.is_file())
        opened = (link for pid in _family(self.process.pid) for link in Path(f"/proc/{pid}/fd").iterdir())
        return named + sum(_deleted_bytes(link, scratch) for link in opened)

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


def keep_first_passwords(data: Path, variables: dict[str, str]) -> None:
    """Let the first people sign in without choosing passwords of their own.

    The portal writes that: nobody signs in whose row says what it did not write.
    """
    with closing(sqlite3.connect(data / "portal.sqlite3", timeout=20)) as database:
        if not database.execute("SELECT 1 FROM accounts_user WHERE must_change_password").fetchall():
            return
    subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "--command", KEEP_PASSWORDS],
        cwd=ROOT,
        env={**variables, "DPPORTAL_DATA_DIR": str(data)},
        timeout=PATIENCE_SECONDS,
        check=True,
    )


def answers(port: int) -> bool:
    """Whether a portal serves pages there."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/", timeout=20) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def proportional_mb(pid: int) -> float:
    """Memory of a process and all that it started, shared pages divided among those that share them."""
    size = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    assert size is not None
    return int(size[1]) / 1024 + sum(map(proportional_mb, _children(pid)))


def _children(pid: int) -> list[int]:
    try:
        return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))
    except FileNotFoundError:
        return []


def _family(pid: int) -> list[int]:
    return [pid, *(member for child in _children(pid) for member in _family(child))]


def _deleted_bytes(link: Path, folder: Path) -> int:
    """The size of an open file of the folder that has no name any more."""
    try:
        target = str(link.readlink())
        return link.stat().st_size if target.startswith(str(folder)) and "(deleted)" in target else 0
    except FileNotFoundError:
        return 0


def _title(pid: int) -> str:
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
