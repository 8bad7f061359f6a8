"""A public page on paper."""

from __future__ import annotations

import re

from playwright.sync_api import Browser

from tests.browser.visiting import JOB_MS, Portal

# With chart, the first 200 lines of its table, and everything below.
MOST_PAGES = 6


def test_a_release_of_222_cells_takes_few_pages_whose_tables_have_a_head_each(
    portal: Portal, browser: Browser
) -> None:
    page = browser.new_page(base_url=portal.address)
    page.goto("/published/")
    page.get_by_role("link", name="Adults by age and sex, 1994").click(timeout=JOB_MS)
    assert page.locator("table.counts tbody tr").count() == 222
    page.wait_for_load_state("networkidle")
    paper = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page[^s]", paper)) <= MOST_PAGES
    page.emulate_media(media="print")
    # A button has a box of its own, which browsers do not draw again where a table goes on.
    heads = page.locator("table.counts th[aria-sort] button")
    assert {head.evaluate("it => getComputedStyle(it).display") for head in heads.all()} == {"contents"}
    page.close()
