"""The demonstration dataset, from the first click to a public page and its downloads."""

from __future__ import annotations

import csv
import re
from decimal import Decimal

import pytest
from playwright.sync_api import Browser, expect

from tests.browser import visiting
from tests.browser.visiting import Portal, Published

TITLE = "Age and sex in the census extract"


@pytest.fixture(scope="module")
def published(portal: Portal, browser: Browser) -> Published:
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    visiting.open_dataset(page, "Adult census 1994")
    before = visiting.left(page)
    compare = visiting.release(page, title=TITLE, columns=["age", "sex"], amount="0.50")
    spent = before - visiting.left(page)
    address = visiting.publish(page)
    return Published(address, ["age", "sex"], visiting.download_all(page), compare, spent)


def test_the_zip_holds_every_file(published):
    assert sorted(published.files) == [
        "README.md",
        "codebook.csv",
        "codebook.xlsx",
        "croissant.json",
        "datapackage.json",
        "histogram.csv",
        "histogram.sdmx.csv",
        "histogram.sdmx.json",
        "histogram.xlsx",
        "measurement.npy",
        "notebook.ipynb",
        "notebook.py",
        "release.json",
        "report.html",
        "report.zh-hans.html",
        "signature.json",
        "synthetic.csv",
        "synthetic.parquet",
        "synthetic.xlsx",
    ]


def test_the_budget_strip_shows_what_was_spent(published):
    assert published.spent == Decimal("0.50")


def test_the_compare_page_says_who_sees_true_counts(published, visit):
    page = visit("curator")
    page.goto(published.compare)
    expect(page.get_by_text("see true counts; this view is recorded")).to_be_visible()


def test_the_compare_page_draws_its_charts(published, visit):
    page = visit("curator")
    page.goto(published.compare)
    expect(page.locator("#counts-plot .main-svg").first).to_be_visible()
    expect(page.locator("#residuals-plot .main-svg").first).to_be_visible()


def test_a_stranger_sees_the_public_page(published, visit):
    page = visit()
    page.goto(published.address)
    expect(page.get_by_role("heading", level=1)).to_have_text(TITLE)
    expect(page.locator("#main-plot svg.still")).to_be_visible()
    assert not page.evaluate("'Plotly' in window")
    with page.expect_download() as png:
        page.get_by_role("button", name="PNG").click()
    assert png.value.path().read_bytes().startswith(b"\x89PNG")
    page.get_by_role("button", name="Explore the chart").click()
    expect(page.locator("#main-plot .main-svg").first).to_be_visible()


def test_a_stranger_downloads_the_same_bytes(published, visit):
    page = visit()
    page.goto(published.address)
    assert visiting.download_all(page) == published.files


@pytest.mark.parametrize(
    "suffix", ["", "download/release.json", "download/histogram.csv", "download/README.md"]
)
def test_nothing_public_names_a_series_of_true_counts(published, visit, suffix):
    answer = visit().request.get(published.address + suffix)
    assert answer.status == 200
    assert not re.search(r'true_count|True count|"true":', answer.text())


def test_nothing_public_holds_the_true_counts(published, visit):
    table = visit("curator").request.get(published.compare.replace("compare/", "compare.csv")).text()
    true = [line["true_count"] for line in csv.DictReader(table.splitlines())]
    public = visit().request.get(published.address).text()
    assert len(true) == 74 * 3
    assert ", ".join(true) not in public
    assert ",".join(true) not in public


def test_a_stranger_cannot_see_the_comparison(published, visit):
    page = visit()
    page.goto(published.compare)
    expect(page).to_have_url(re.compile("/account/"))


def test_going_back_after_spending_leads_to_the_job_and_spends_nothing(published, visit):
    page = visit("curator")
    page.goto(published.compare)
    before = visiting.left(page)
    page.goto(published.compare.replace("compare/", "review/"))
    expect(page).to_have_url(re.compile("/job/$"))
    expect(page.get_by_text("already confirmed")).to_be_visible()
    assert visiting.left(page) == before
