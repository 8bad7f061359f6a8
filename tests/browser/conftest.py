"""A portal as a curator starts it, and a Chromium to use it with. Both end with this folder's tests."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.visiting import Portal, Watch, sign_in
from tests.dpportal.portal_command.starting import keep_first_passwords

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = re.compile(r"^\s*(administrator|curator)\s+password (\S+)$", re.MULTILINE)
READY = "The portal is running at"
# What a page is given on a machine that does much else.
PATIENCE_MS = 90_000
expect.set_options(timeout=PATIENCE_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = str(Path(__file__).parent) + os.sep
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Portal]:
    """`manage.py portal` with an empty data folder on a free port, as its own process."""
    _chromium()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = tmp_path_factory.mktemp("portal")
    command = [sys.executable, "manage.py", "portal", "--port", str(port), "--data-dir", str(data)]
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("DPPORTAL", "DJANGO", "CELERY"))}
    process = subprocess.Popen(command, cwd=ROOT, env=plain, stdout=subprocess.PIPE, text=True)
    try:
        passwords = dict(PASSWORD.findall(_until_ready(process)))
        keep_first_passwords(data)
        yield Portal(f"http://127.0.0.1:{port}", passwords)
    finally:
        # Not SIGINT: a process that was started in the background ignores it.
        process.terminate()
        process.wait(300)


@pytest.fixture(scope="package")
def browser(portal: Portal) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # A container's root has no user namespace for Chromium's sandbox; only our own pages are opened.
        yield playwright.chromium.launch(executable_path=_chromium(), args=["--no-sandbox"])


@pytest.fixture
def visit(portal: Portal, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a browser of one's own, signed in as a role or as nobody; at the end nothing may have gone wrong."""
    watches: list[Watch] = []

    def open_page(role: str = "", width: int = 1280, scheme: Literal["light", "dark"] = "light") -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, base_url=portal.address
        )
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        watches.append(Watch(page))
        if role:
            sign_in(page, role, portal.passwords[role])
        return page

    yield open_page
    for watch in watches:
        watch.page.context.close()
    assert [trouble for watch in watches for trouble in watch.troubles] == []


def _until_ready(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if READY in line:
            return said
    pytest.fail(f"the portal did not start: {said}")


def _chromium() -> str:
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
