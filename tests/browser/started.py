"""`manage.py portal` with an empty data folder on a free port, as a process of its own, and the browser to see it."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.browser.visiting import Portal
from tests.dpportal.portal_command.starting import keep_first_passwords

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = re.compile(r"^\s*(administrator|curator)\s+password (\S+)$", re.MULTILINE)
READY = "The portal is running at"


@contextmanager
def started(data: Path) -> Iterator[Portal]:
    """A portal that keeps its data in a folder, until the block ends."""
    chromium()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "manage.py", "portal", "--port", str(port), "--data-dir", str(data)]
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("DPPORTAL", "DJANGO", "CELERY"))}
    process = subprocess.Popen(command, cwd=ROOT, env=plain, stdout=subprocess.PIPE, text=True)
    try:
        passwords = dict(PASSWORD.findall(_until_ready(process)))
        keep_first_passwords(data, plain)
        yield Portal(f"http://127.0.0.1:{port}", passwords)
    finally:
        # Not SIGINT: a process that was started in the background ignores it.
        process.terminate()
        process.wait(300)


def _until_ready(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if READY in line:
            return said
    pytest.fail(f"the portal did not start: {said}")


def chromium() -> str:
    """The browser, or a skip with the reason; in CI it must be there."""
    # The engine without windows takes half the processor's time.
    names = (
        "chromium-headless-shell",
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    )
    for name in names:
        if found := shutil.which(name):
            return found
    reason = "no Chromium is installed (apt-get install chromium-headless-shell)"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
