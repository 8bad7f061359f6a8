"""A table as an office writes it, with titles and notes, from its upload to its declared columns."""

from __future__ import annotations

from playwright.sync_api import FilePayload, Page, expect

from tests.browser import visiting
from tests.dpportal.tables.test_frame import MESSY


def test_an_office_file_is_read_and_declared(visit):
    page: Page = visit("curator", 1280)
    page.goto("/datasets/new/")
    file: FilePayload = {"name": "Table 3.csv", "mimeType": "text/csv", "buffer": MESSY.encode()}
    page.get_by_label("Drop a table here").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Read it this way").wait_for(timeout=visiting.JOB_MS)
    assert visiting.barriers(page) == []
    # Another line is clicked, and the names that it would give are shown at once; with the keyboard it goes back.
    page.get_by_role("cell", name="North").click()
    expect(page.locator("#lines .chip").first).to_contain_text("North")
    page.get_by_role("radio", name="Line 5").press("ArrowUp")
    expect(page.locator("#lines .chip").first).not_to_contain_text("North")
    page.get_by_role("radio", name="Line 4").check()
    expect(page.locator("#lines .chip").nth(1)).to_have_text("Persons: sex")
    page.get_by_role("button", name="Read it this way").click()
    page.get_by_role("button", name="Yes, each row is one person").click(timeout=visiting.JOB_MS)
    assert visiting.barriers(page) == []
    page.get_by_label("Kind of column: Persons: age").select_option("Whole numbers")
    page.get_by_label("Lower limit: Persons: age").fill("0")
    page.get_by_label("Upper limit: Persons: age").fill("99")
    page.get_by_label("Whole numbers in a bin: Persons: age").fill("10")
    expect(page.locator("#cells-2")).to_contain_text("11 cells")
    page.get_by_role("button", name="Save and look at the fit").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert visiting.barriers(page) == []
