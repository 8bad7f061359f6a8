"""Columns that were once counted wrongly without a word: each, from the file in the browser to the published counts."""

from __future__ import annotations

import csv
import io

import pytest
from playwright.sync_api import Browser, Page

from tests.browser import visiting
from tests.browser.test_upload import granted
from tests.browser.visiting import Portal

NAME = "as it is written"
# At ε = 50 a count is off by one with a chance of e^-50.
AMOUNT = "50.00"
# HbA1c in tenths, codes that look like numbers, truth as a category, days with the day first, and a
# town of one byte that UTF-8 does not know; two of them in a column that is not released.
ROWS = [
    ("6.3", "250.00", "TRUE", "31.01.2024", "Zürich".encode("latin-1")),
    ("6.3", "250.10", "TRUE", "01.02.2024", "Zürich".encode()),
    ("6.2", "250.1", "FALSE", "02.02.2024", "Zürich".encode()),
    ("9.9", "250.00", "FALSE", "12.11.2024", b"Bern"),
]
VALUES = {"code": ["250.00", "250.10", "250.1"], "smoker": ["TRUE", "FALSE"], "town": ["Zürich", "Bern"]}
EXPECTED = {
    "hba1c": {"6.2 to 6.3": 10, "6.3 to 6.4": 20, "9.9 to 10": 10},
    "code": {"250.00": 20, "250.10": 10, "250.1": 10},
    "smoker": {"TRUE": 20, "FALSE": 20},
    "seen": {"2024-01": 10, "2024-02": 20, "2024-11": 10},
    "town": {"Zürich": 20, "Bern": 10, "Other": 10},
}


def table() -> bytes:
    """Ten rows of each kind; one town in four is written in another encoding than the file's."""
    lines = [b"hba1c,code,smoker,seen,town"]
    for *fields, town in ROWS:
        lines += [",".join(fields).encode() + b"," + town] * 10
    return b"\n".join(lines) + b"\n"


@pytest.fixture(scope="module")
def page(portal: Portal, browser: Browser) -> Page:
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    page.goto("/datasets/new/")
    page.get_by_label("Drop a table here").set_input_files(
        {"name": "table.csv", "mimeType": "text/csv", "buffer": table()}
    )
    page.get_by_label("Name").fill(NAME)
    page.get_by_text("How the file is read").click()
    page.get_by_label("Text encoding").select_option("utf-8")
    page.get_by_label("Format of dates", exact=True).select_option("day-first")
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/datasets/*-*/", timeout=visiting.JOB_MS)
    page.get_by_role("button", name="Yes, each row is one person").click(timeout=visiting.JOB_MS)
    declare(page)
    granted(browser.new_context(base_url=portal.address).new_page(), portal, NAME, "1000")
    return page


def declare(page: Page) -> None:
    choose(page, "hba1c", "Real numbers")
    page.get_by_label("Lower limit").fill("4.0")
    page.get_by_label("Upper limit").fill("14.0")
    page.get_by_label("Number of bins").fill("100")
    save(page, "hba1c")
    for column, values in VALUES.items():
        choose(page, column, "Categories")
        page.get_by_label("Values", exact=True).fill("\n".join(values))
        page.get_by_label("No: others are counted").check()
        save(page, column)
    choose(page, "seen", "Dates")
    page.get_by_label("Lower limit").fill("2024-01-01")
    page.get_by_label("Upper limit").fill("2024-12-31")
    save(page, "seen")


def choose(page: Page, column: str, kind: str) -> None:
    visiting.open_column(page, column)
    page.get_by_label(kind, exact=True).check()
    page.get_by_label("Missing values have").check()


def save(page: Page, column: str) -> None:
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text(f"Saved: {column}.").wait_for()


@pytest.mark.parametrize("column", EXPECTED)
def test_the_published_counts_are_right(page, column):
    visiting.open_dataset(page, NAME)
    visiting.release(page, title=column, columns=[column], amount=AMOUNT)
    visiting.publish(page)
    told = csv.DictReader(io.StringIO(visiting.download_all(page)["histogram.csv"].decode()))
    label = next(name for name in told.fieldnames or () if name.startswith(column))
    found = {row[label].strip("'"): int(row["noisy_count"]) for row in told}
    assert {cell: count for cell, count in found.items() if count} == EXPECTED[column]
