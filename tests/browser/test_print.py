"""A public page on paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.test_readers_questions import SERIES
from tests.browser.visiting import JOB_MS, Portal

# Pixels of A4 between its margins, and whose letters lie farther to the right than a page, a column of it, or a cell.
PAPER = 673
CUT = """paper => [...document.querySelectorAll("main :is(th, td)")].filter(cell => {
    if (!cell.getClientRects().length) return false;
    const text = document.createRange();
    text.selectNodeContents(cell);
    const rights = [...text.getClientRects()].map(box => box.right);
    const last = Math.max(...[...cell.getClientRects()].map(box => box.right));
    return Math.max(...rights) > Math.min(last, paper) + 1;
}).map(cell => cell.textContent.trim())"""
# With chart, the first 200 lines of its table, and everything below.
MOST_PAGES = 6
STYLES = Path(__file__).parents[2] / "static/css/portal.css"


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


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_no_table_of_long_names_is_cut_off_at_the_edge_of_the_paper(browser: Browser, columns: int) -> None:
    """Margins stand at the right end, where they were lost."""
    page = browser.new_page(viewport={"width": PAPER, "height": 1000})
    names = "".join(f"<th>Demandeur: Groupe d’âge {place} du demandeur</th>" for place in range(columns))
    heads = f"<tr>{names}{'<th class=number>Noisy count</th>' * 3}</tr>"
    values = "<td>Appartement-en-copropriété-de-l’agglomération</td>" * columns
    numbers = "<td class='number'>12,345</td><td class='number'>± 1,234</td><td class='number'>12,345</td>"
    table = f"<thead>{heads}</thead><tbody>{f'<tr>{values}{numbers}</tr>' * 60}</tbody>"
    page.set_content(
        f"<style>{STYLES.read_text()}</style><input type='checkbox' class='adjusted-shown'>"
        f"<div class='table-frame tall'><table class='counts with-margins'>{table}</table></div>"
    )
    page.emulate_media(media="print")
    rights = page.locator("td, th").evaluate_all("them => them.map(it => it.getBoundingClientRect().right)")
    assert max(rights) <= PAPER
    page.close()


def test_running_counts_on_paper_have_no_form(visit: Callable[..., Page]) -> None:
    page = visit(width=PAPER)
    page.goto("/")
    page.get_by_role("link", name=SERIES).first.click()
    page.emulate_media(media="print")
    assert page.evaluate(CUT, PAPER) == []
    assert [shown for shown in page.locator("main :is(input, select)").all() if shown.is_visible()] == []
