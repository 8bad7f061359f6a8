"""A synthetic table of the whole census extract: from the first click to rows and reports on disk."""

from __future__ import annotations

import csv
import io
from decimal import Decimal

from playwright.sync_api import Browser, expect

from tests.browser import visiting
from tests.browser.visiting import JOB_MS, Portal

DATASET, AMOUNT = "Adult census 1994", "0.25"
MOST_PIXELS = 3000


def test_a_curator_publishes_fifteen_columns(portal: Portal, browser: Browser) -> None:
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    visiting.open_dataset(page, DATASET)
    before = visiting.left(page)
    page.get_by_role("link", name="Declare the columns").first.click()
    visiting.open_column(page, "fnlwgt")
    page.get_by_label("Whole numbers", exact=True).check()
    page.get_by_label("Lower limit").fill("0")
    page.get_by_label("Upper limit").fill("1499999")
    page.get_by_label("Bins of equal width").check()
    page.get_by_label("Whole numbers in a bin").fill("15000")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("Saved: fnlwgt.").wait_for()

    visiting.open_dataset(page, DATASET)
    page.get_by_role("button", name="New release").click()
    page.get_by_label("Title").fill("The whole extract")
    page.get_by_role("radio", name="Synthetic table of many columns").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Take all 15 columns").click()
    page.get_by_label("Your estimate of the number of people").fill("32000")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Which method fits is being tried out")).to_be_visible()
    go_on = page.get_by_role("button", name="Continue")
    page.get_by_label("Cost ε").fill(AMOUNT)
    # Open while nothing is recommended yet.
    tree = page.get_by_role("radio", name="Tree of pairs")
    if not tree.is_visible():
        page.get_by_text("All methods side by side", exact=True).click()
    tree.check()
    expect(go_on).to_have_accessible_description("")
    go_on.click()
    one_row = page.get_by_label("Each person has one row")
    if one_row.count():  # the first release that names fnlwgt asks for it
        one_row.check()
    page.get_by_role("button", name=f"Spend ε {AMOUNT} and release").click()
    page.get_by_role("link", name="Compare with the true counts").click(timeout=JOB_MS)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="quality report").click()
    quality = waiting.value.path().read_text()
    assert "Confidential" in quality and "Nearest real rows" in quality
    assert before - visiting.left(page) == Decimal(AMOUNT)
    assert visiting.barriers(page) == []
    address = visiting.publish(page)
    reader = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    reader.goto(address)
    assert reader.evaluate("document.documentElement.scrollHeight") <= MOST_PIXELS

    files = visiting.download_all(page)
    rows = list(csv.DictReader(io.StringIO(files["synthetic.csv"].decode())))
    assert len(rows[0]) == 15 and abs(len(rows) - 32_561) < 1_000
    married = [row for row in rows if row["relationship"] == "Husband"]
    assert (
        len(rows) / 4 < len(married)
        and abs(len([r for r in rows if r["sex"] == "Male"]) / len(rows) - 0.67) < 0.05
    )
    report = browser.new_page()
    report.set_content(files["report.html"].decode())
    expect(report.get_by_role("heading", name="Pairs of columns")).to_be_visible()
    assert "Confidential" not in files["report.html"].decode()
