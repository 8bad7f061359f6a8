"""A public page on paper."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.test_readers_questions import EXAMPLE, SERIES
from tests.browser.visiting import Portal, public_link

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
# In how many lines the text of the first such element stands.
LINES_OF = """selector => {
    const text = document.createRange();
    text.selectNodeContents(document.querySelector(selector));
    return new Set([...text.getClientRects()].map(box => Math.round(box.top))).size;
}"""
# With chart, the first 200 lines of its table, and everything below.
MOST_PAGES = 6
STYLES = Path(__file__).parents[2] / "static/css/portal.css"


def test_a_release_of_222_cells_takes_few_pages_whose_tables_have_a_head_each(
    portal: Portal, browser: Browser
) -> None:
    page = browser.new_page(base_url=portal.address)
    public_link(page, EXAMPLE).click()
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
    public_link(page, SERIES).click()
    page.emulate_media(media="print")
    assert page.evaluate(CUT, PAPER) == []
    assert [shown for shown in page.locator("main :is(input, select)").all() if shown.is_visible()] == []


COLUMN = (
    "<div class='beside'><figure class='figure'><svg class='still' viewBox='0 0 760 360'></svg></figure>"
    "<div class='table-frame tall'><table><thead><tr><th>age</th><th class='number'>Noisy count</th>"
    "<th class='number'>Margin</th></tr></thead><tbody>{lines}</tbody></table></div></div><p>What comes next.</p>"
)


def test_what_comes_after_a_long_table_beside_its_chart_stands_below_it(browser: Browser) -> None:
    """On a screen the table is moved within a frame as high as its chart; on paper it is longer than that."""
    page = browser.new_page(viewport={"width": PAPER, "height": 1000})
    line = "<tr><th>17 … 18</th><td class='number'>952</td><td class='number'>± 83</td></tr>"
    page.set_content(f"<style>{STYLES.read_text()}</style>{COLUMN.format(lines=line * 60)}")
    page.emulate_media(media="print")
    ends = page.locator("td").evaluate_all("them => them.map(it => it.getBoundingClientRect().bottom)")
    assert page.locator("p").evaluate("it => it.getBoundingClientRect().top") >= max(ends)
    page.close()


def test_margins_of_means_are_smaller_than_their_numbers_and_names_of_groups_are_not_broken(
    browser: Browser,
) -> None:
    page = browser.new_page(viewport={"width": PAPER, "height": 1000})
    heads = "".join(f"<th class='number'>Standard deviation {place}</th>" for place in range(7))
    number = "<td class='number'>30.000 <small class='range in-one-line'>[18.979 to 45.935]</small></td>"
    line = f"<tr><th>12th grade, no diploma</th><th>Female</th>{number * 7}</tr>"
    table = (
        f"<table><thead><tr><th>education</th><th>sex</th>{heads}</tr></thead><tbody>{line}</tbody></table>"
    )
    page.set_content(f"<style>{STYLES.read_text()}</style><div class='table-frame tall means'>{table}</div>")
    page.emulate_media(media="print")
    size = "it => parseFloat(getComputedStyle(it).fontSize)"
    margin, cell = page.locator("small").first, page.locator("td").first
    assert margin.evaluate(size) < cell.evaluate(size)
    assert page.evaluate(LINES_OF, "tbody th:nth-child(2)") == 1
    rights = page.locator("td, th").evaluate_all("them => them.map(it => it.getBoundingClientRect().right)")
    assert max(rights) <= PAPER
    page.close()
