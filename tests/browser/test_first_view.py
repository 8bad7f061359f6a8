"""What a reader's browser fetches before anything is clicked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Response

from tests.browser.test_readers_questions import EXAMPLE, SERIES

MOST_BYTES = 300_000


@pytest.mark.parametrize("title", [EXAMPLE, SERIES])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_view_of_a_public_page_is_light(visit: Callable[..., Page], title: str, width: int) -> None:
    """Page, styles, type and pictures as they travel; the chart library waits until it is asked for."""
    page = visit()
    page.goto("/")
    address = page.get_by_role("link", name=title).first.get_attribute("href")
    fetched: list[Response] = []
    stranger = visit(width=width)
    stranger.on("response", fetched.append)
    stranger.goto(str(address), wait_until="networkidle")
    sizes = {answer.url: answer.request.sizes()["responseBodySize"] for answer in fetched}
    assert sum(sizes.values()) <= MOST_BYTES, sizes
    assert len(sizes) > 3 and not [url for url in sizes if "plotly" in url]
