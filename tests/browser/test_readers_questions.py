"""Ten questions of readers, each answered on the public pages of the example, without the guide."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from tests.browser.visiting import JOB_MS, public_link

EXAMPLE, SERIES = "Adults by age and sex, 1994", "Adults with more than $50,000 a year, so far"
# The census extract is public, so these are known.
WOMEN_OVER_65, WOMEN_OF_30, EVERYBODY = 384, 273, 32_561
NUMBER = re.compile(r"([\d,]+) ± ([\d,]+)")


@pytest.fixture
def page(visit) -> Page:
    """The page of the example, found as a stranger finds it."""
    page = visit()
    public_link(page, EXAMPLE).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(EXAMPLE)
    return page


def with_margin(text: str) -> tuple[int, int]:
    """The first number that stands with its margin."""
    found = NUMBER.search(text.replace("\u00a0", " "))
    assert found, text
    number, margin = (int(part.replace(",", "")) for part in found.groups())
    return number, margin


def holds(text: str, truth: int) -> bool:
    """Whether a number agrees with the truth, as far as its margin says; three times it, so that no draw fails."""
    number, margin = with_margin(text)
    return abs(number - truth) <= 3 * margin


def test_how_many_people_are_there_and_how_sure_is_that(page: Page) -> None:
    assert holds(page.locator(".finding").inner_text(), EVERYBODY)


def test_how_many_women_over_65_and_how_sure_is_that(page: Page) -> None:
    page.get_by_label("From", exact=True).select_option("66")
    page.get_by_label("Female", exact=True).check()
    page.get_by_role("button", name="Add up").click()
    answer = page.locator("dl.numbers")
    assert holds(answer.inner_text(), WOMEN_OVER_65)
    expect(
        page.get_by_text("The true number lies within this margin with probability 95 % or more")
    ).to_be_visible()


def test_how_many_women_are_exactly_30(page: Page) -> None:
    row = page.locator("#table tr", has_text=re.compile(r"^\s*30\s*Female")).first
    count, margin, _adjusted = row.locator("td.number").all_inner_texts()
    assert holds(f"{count} {margin}", WOMEN_OF_30)


def test_what_does_plus_minus_mean(page: Page) -> None:
    page.locator(".finding .term").focus()
    expect(page.get_by_role("button", name="± ")).to_have_attribute(
        "aria-description", re.compile("right at least 95 times in 100")
    )


def test_which_group_is_the_largest(page: Page) -> None:
    expect(page.locator(".finding")).to_contain_text(
        re.compile(
            r"The largest group, age \d+, sex Male, has \d+\s±\s\d+"
            r"|By sex alone, the largest group is Male, with [\d,]+\s±\s\d+"
            r"|The largest group is age \d+, sex \w+, with \d+, or|No group is certainly the largest"
        )
    )


def test_why_is_a_count_below_zero(page: Page) -> None:
    expect(page.locator("#table")).to_contain_text("Noisy counts are unbiased and may be negative")


def test_can_anybody_learn_that_i_am_in_it(page: Page) -> None:
    page.get_by_text("What is this?").click()
    expect(page.locator(".promise .statement")).to_contain_text(
        "even whether they are in the table stays hidden"
    )


def test_what_else_was_published_about_these_people_and_what_did_it_cost(page: Page) -> None:
    """Of many, the page of the dataset lists all; whoever released others beside these two decides how many."""
    everything = page.locator("#everything")
    expect(everything.get_by_role("button", name=re.compile("ε = ")).first).to_be_visible()
    everything.get_by_role("link", name=re.compile("The page of")).click()
    expect(page.locator("#releases").get_by_role("link", name=SERIES)).to_be_visible()


def test_which_file_opens_in_a_spreadsheet_and_how_is_it_cited(page: Page) -> None:
    downloads = page.locator("#downloads")
    offered = downloads.get_by_role("link", name="histogram.xlsx").first
    until = time.monotonic() + JOB_MS / 1000
    # What another test released may have changed what is said of this one, so that its files are written anew.
    while "written anew" in downloads.inner_text() and time.monotonic() < until:
        page.wait_for_timeout(1000)
        page.reload()
    expect(offered).to_be_visible()
    expect(page.get_by_text("Differentially private release of").first).to_be_visible()


def test_how_many_are_new_in_the_last_period_of_the_running_count(page: Page) -> None:
    public_link(page, SERIES, "/streams/").click()
    finding = page.locator(".finding")
    expect(finding).to_contain_text("New in that period:")
    assert with_margin(finding.inner_text().rpartition("New in that period:")[2])[1] > 0
