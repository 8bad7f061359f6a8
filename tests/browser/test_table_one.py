"""Table 1 of the demonstration dataset: published in three clicks from its page, and read by a stranger."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from dpportal.releases.templatetags.summary_cells import shown_cell
from tests.browser import visiting
from tests.browser.test_every_page import look_at, sideways
from tests.browser.test_first_view import require_light
from tests.browser.visiting import JOB_MS, Portal

MOST_CLICKS = 3
# The same in all tests on this dataset, whose last estimate the next one begins with.
PEOPLE = "32000"


class Clicks:
    """Someone at a page, whose clicks are counted: all of them."""

    def __init__(self, page: Page) -> None:
        self.page, self.number = page, 0

    def on(self, button: str | re.Pattern[str]) -> None:
        self.number += 1
        self.page.get_by_role("button", name=button).first.click(timeout=JOB_MS)


@pytest.fixture(scope="module")
def published(portal: Portal, browser: Browser) -> tuple[Clicks, str]:
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    visiting.open_dataset(page, "Adult census 1994")
    # From the dataset's page on.
    clicks = Clicks(page)
    # The form is there once the table has been read, which the page awaits.
    page.get_by_label("By", exact=True).select_option("sex", timeout=JOB_MS)
    page.get_by_label("People, about").fill(PEOPLE)
    clicks.on("Prepare Table 1")
    clicks.on("Use this")
    clicks.on(re.compile("^Spend .* and publish"))
    # The job's page leads on to the published one.
    page.wait_for_url(re.compile(r"/releases/[0-9a-f-]+/$"), timeout=JOB_MS)
    return clicks, page.url


def test_it_is_published_in_three_clicks(published, visit):
    clicks, address = published
    assert clicks.number <= MOST_CLICKS
    page = visit()
    page.goto(address)
    expect(page.get_by_role("region", name="Table 1")).to_be_visible()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_its_pages_are_whole_and_quiet(published, visit, width, scheme):
    address, page = published[1], visit("curator", width, scheme)
    for place in (address, f"{address}compare/"):
        look_at(page, place)
        assert sideways(page) <= 0, page.url
        assert visiting.barriers(page) == []


def test_on_a_phone_the_first_numbers_are_in_sight_even_where_they_are_days(published, visit):
    page = visit(width=390)
    page.goto(published[1])
    table = page.get_by_role("region", name="Table 1")
    number = table.locator("tbody td.number:not(:empty)").first
    days = "2025-07-04 ± 25 days (2025-04-04 [2025-03-04 to 2025-05-04], 2025-09-20 ± 25 days)"
    inside = "".join(re.findall("<td[^>]*>(.*)</td>", shown_cell({"text": days, "sort": 1})))
    number.evaluate("(cell, inside) => cell.innerHTML = inside", inside)
    assert visiting.is_in_sight(number)


def test_a_stranger_reads_the_table_and_unfolds_a_chart(published, visit):
    page = visit()
    page.goto(published[1])
    table = page.get_by_role("region", name="Table 1")
    expect(table.get_by_role("row", name=re.compile(r"^Mean \(SD\).*±")).first).to_be_visible()
    expect(page.locator("#column-0-plot .main-svg")).to_have_count(0)
    table.get_by_role("link", name="age", exact=True).click()
    expect(page.locator("#column-0-plot .main-svg").first).to_be_visible()


def test_its_first_view_is_light_though_the_table_is_long(published, visit):
    require_light(visit(), published[1])


def test_categories_are_sorted_within_their_column(published, visit):
    page = visit()
    page.goto(published[1])
    table = page.get_by_role("region", name="Table 1")
    overall = table.get_by_role("columnheader", name=re.compile("^Overall"))
    overall.get_by_role("button").click()
    overall.get_by_role("button").click()
    race = table.locator("tbody", has=page.get_by_role("link", name="race", exact=True))
    expect(race.get_by_role("rowheader").nth(1)).to_have_text("White")
    expect(race.get_by_role("rowheader").nth(0)).to_contain_text("race")


def test_the_next_table_begins_with_the_same_estimate(published, visit):
    page = visit("curator")
    visiting.open_dataset(page, "Adult census 1994")
    expect(page.get_by_label("People, about")).to_have_value(PEOPLE)
