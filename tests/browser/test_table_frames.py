"""Frames of tables: what is cut off says so, and what hardly exceeds its frame is not cut; charts on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

STYLES = (Path(__file__).parents[2] / "static/css/portal.css").read_text()
# Of A4 between its margins, in pixels; and what a sheet has for a chart below a finding of some lines.
PAPER, BESIDE_A_FINDING = 673, 310


@pytest.mark.parametrize(("rows", "is_cut"), [(9, False), (18, False), (60, True)])
def test_a_table_hardly_longer_than_its_frame_is_shown_whole(
    browser: Browser, rows: int, is_cut: bool
) -> None:
    """Each line has a margin below its number, as means have: nine are 539 pixels."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    lines = "<tr><td>ward</td><td class='number'>12<br><small>± 3</small></td></tr>" * rows
    page.set_content(
        f"<style>{STYLES}</style><div class='table-frame tall'><table><tbody>{lines}</tbody></table></div>"
    )
    frame = page.locator(".table-frame")
    assert frame.evaluate("it => it.scrollHeight > it.clientHeight + 1") == is_cut
    # A shade that stays at the lower edge, under a cover that ends with the table.
    pictures = frame.evaluate("it => getComputedStyle(it).backgroundPosition")
    assert pictures.count("100%") >= 2
    page.close()


@pytest.mark.parametrize(("shape", "tallest"), [("", BESIDE_A_FINDING), ("upright", 500)])
def test_a_chart_leaves_room_for_what_was_found_on_its_sheet(
    browser: Browser, shape: str, tallest: int
) -> None:
    page = browser.new_page(viewport={"width": PAPER, "height": 1000})
    drawing = f"<svg class='still' data-shape='{shape}' viewBox='0 0 760 900'></svg>"
    page.set_content(f"<style>{STYLES}</style>{drawing}")
    page.emulate_media(media="print")
    assert page.locator(".still").evaluate("it => it.getBoundingClientRect().height") <= tallest
    page.close()
