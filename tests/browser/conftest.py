"""A portal as a curator starts it, and a Chromium to use it with. Both end with this folder's tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.started import chromium, started
from tests.browser.visiting import Portal, Watch, sign_in

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
    with started(tmp_path_factory.mktemp("portal")) as running:
        yield running


@pytest.fixture(scope="package")
def browser(portal: Portal) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # A container's root has no user namespace for Chromium's sandbox; only our own pages are opened.
        yield playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])


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
