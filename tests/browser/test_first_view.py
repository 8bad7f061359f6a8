"""What a reader's browser fetches before anything is clicked."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Response, expect

from tests.browser.test_readers_questions import EXAMPLE, SERIES
from tests.browser.visiting import Portal, is_in_sight, public_link

MOST_BYTES = 300_000


@pytest.mark.parametrize("title", [EXAMPLE, SERIES])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_first_view_of_a_public_page_is_light(visit: Callable[..., Page], title: str, width: int) -> None:
    """Page, styles, type and pictures as they travel; the chart library waits until it is asked for."""
    page = visit()
    address = public_link(page, title).get_attribute("href")
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
    public_link(page, EXAMPLE).click()
    table = page.locator("table.counts")
    table.evaluate(
        """(table, [name, value]) => {
            for (const head of table.querySelectorAll("thead th:not(.number)"))
                (head.querySelector("button") || head).textContent = name;
            for (const cell of table.querySelectorAll("tbody :is(td, th):not(.number)")) cell.textContent = value;
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


@pytest.mark.parametrize("width", [390, 1280])
def test_a_mirrored_pyramid_counts_to_both_sides_without_a_sign(
    visit: Callable[..., Page], width: int
) -> None:
    """Also on a phone, where long names of its axes are cut."""
    page = visit(width=width)
    public_link(page, EXAMPLE).click()
    page.get_by_role("button", name="Explore the chart").click()
    plot = page.locator(".js-plotly-plot", has=page.locator(".main-svg")).first
    plot.wait_for()
    called = plot.evaluate("plot => plot.layout.xaxis.labelalias")
    assert called["\N{MINUS SIGN}200"] == "200"
    marks = plot.locator(".xaxislayer-above text").all_text_contents()
    assert len(marks) > 2 and all(marks.count(mark) == 2 for mark in marks if mark != "0"), marks
    assert not [mark for mark in marks if mark.startswith(("-", "\N{MINUS SIGN}"))]


@pytest.mark.parametrize(("width", "picture"), [(390, "svg.still-narrow"), (1280, "svg.still")])
def test_the_picture_of_a_pyramid_counts_to_both_sides_without_a_sign(
    visit: Callable[..., Page], width: int, picture: str
) -> None:
    page = visit(width=width)
    public_link(page, EXAMPLE).click()
    drawn = page.locator("#main-plot").locator(picture)
    expect(drawn).to_be_visible()
    marks = [text.strip() for text in drawn.locator("text").all_text_contents()]
    assert marks.count("200") == 2 and not [
        mark for mark in marks if mark.startswith(("-", "\N{MINUS SIGN}"))
    ]


def test_on_a_phone_a_running_count_has_its_margin_in_sight(visit: Callable[..., Page]) -> None:
    page = visit(width=390)
    public_link(page, SERIES, "/streams/").click()
    row = page.locator("#table tbody tr").first
    count, margin = row.locator("td.number").first, row.locator("td.margin").first
    expect(margin).to_have_text(re.compile(r"^± [\d,]+$"))
    assert is_in_sight(count) and is_in_sight(margin)


@pytest.mark.parametrize("title", [EXAMPLE, SERIES])
def test_a_frame_of_the_height_that_is_offered_shows_all_of_the_chart_with_its_source(
    visit: Callable[..., Page], title: str
) -> None:
    """At the widths of a page, of a column and of a phone."""
    page = visit()
    public_link(page, title).click()
    line = page.locator(".embed pre").first.text_content() or ""
    [(address, height)] = re.findall(r"src='([^']+)'.*?height=\"(\d+)\"", line, re.DOTALL)
    for width in (1100, 640, 360):
        page.set_viewport_size({"width": width, "height": int(height)})
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollHeight") <= int(height), width
        for part in (".source", "svg:visible", "figcaption"):
            box = page.locator(part).first.bounding_box()
            assert box and box["height"] > 10 and box["y"] + box["height"] <= int(height), (width, part)


@pytest.mark.parametrize("scripts", [True, False])
def test_what_only_a_script_can_copy_is_offered_where_scripts_run(
    portal: Portal, browser: Browser, scripts: bool
) -> None:
    context = browser.new_context(base_url=portal.address, java_script_enabled=scripts)
    page = context.new_page()
    public_link(page, EXAMPLE).click()
    expect(page.get_by_role("link", name="BibTeX", exact=True)).to_be_visible()
    assert page.get_by_role("button", name="Copy", exact=True).count() == int(scripts)
    context.close()
