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
    require_light(visit(width=width), str(address))


def require_light(stranger: Page, address: str) -> None:
    fetched: list[Response] = []

    def keep(answer: Response) -> None:
        # Playwright wraps a Python function, and no built-in one.
        fetched.append(answer)

    stranger.on("response", keep)
    stranger.goto(address, wait_until="networkidle")
    sizes = {answer.url: answer.request.sizes()["responseBodySize"] for answer in fetched}
    assert sum(sizes.values()) <= MOST_BYTES, sizes
    assert len(sizes) > 3 and not [url for url in sizes if "plotly" in url]


@pytest.mark.parametrize(
    "names", [("Geburtsdatum", "weiblich"), ("Staatsangehörigkeit", "Bosnien und Herzegowina")]
)
def test_on_a_phone_a_margin_stands_in_sight_beside_its_count(
    visit: Callable[..., Page], names: tuple
) -> None:
    """Of the example's table with longer words: the columns' names, and their values."""
    page = visit(width=390)
    page.goto("/")
    page.get_by_role("link", name=EXAMPLE).first.click()
    table = page.locator("table.counts")
    table.evaluate(
        """(table, [name, value]) => {
            for (const head of table.querySelectorAll("thead th:not(.number)"))
                (head.querySelector("button") || head).textContent = name;
            for (const cell of table.querySelectorAll("tbody td:not(.number)")) cell.textContent = value;
        }""",
        list(names),
    )
    frame, margin = (
        part.bounding_box() for part in (page.locator(".table-frame").first, table.locator("td.margin").first)
    )
    count = table.locator("tbody tr:first-child td.number").first.bounding_box()
    assert frame and margin and count
    assert margin["x"] + margin["width"] <= frame["x"] + frame["width"] + 1
    assert count["x"] + count["width"] <= margin["x"] + 1


def test_on_a_phone_the_margin_of_many_running_counts_stands_in_sight(visit: Callable[..., Page]) -> None:
    """Of the example's single count made six, as of a running count by groups."""
    page = visit(width=390)
    page.goto("/")
    page.get_by_role("link", name=SERIES).first.click()
    table = page.locator("table.margin-in-sight")
    table.evaluate(
        """table => { for (const margin of table.querySelectorAll("tr > .margin"))
            for (let more = 0; more < 5; more++) margin.before(margin.previousElementSibling.cloneNode(true)); }"""
    )
    frame = page.locator(".table-frame", has=table).bounding_box()
    margin, count = (
        table.locator(f"tbody tr:first-child {cell}").first.bounding_box() for cell in (".margin", "td")
    )
    assert frame and margin and count
    assert margin["x"] + margin["width"] <= frame["x"] + frame["width"] + 1
    assert count["x"] + count["width"] <= margin["x"] + 1


@pytest.mark.parametrize("width", [390, 1280])
def test_a_mirrored_pyramid_counts_to_both_sides_without_a_sign(
    visit: Callable[..., Page], width: int
) -> None:
    """Also on a phone, where long names of its axes are cut."""
    page = visit(width=width)
    page.goto("/")
    page.get_by_role("link", name=EXAMPLE).first.click()
    page.get_by_role("button", name="Explore the chart").click()
    plot = page.locator(".js-plotly-plot", has=page.locator(".main-svg")).first
    plot.wait_for()
    called = plot.evaluate("plot => plot.layout.xaxis.labelalias")
    assert called["\N{MINUS SIGN}200"] == "200"
