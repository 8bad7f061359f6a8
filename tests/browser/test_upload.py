"""A table of one's own: from the drop zone over the domain and a granted budget to checked downloads."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from decimal import Decimal

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import visiting
from tests.browser.visiting import Portal, Published

NAME = "adult without its first hundred"
# fmt: off
EDUCATION = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]
MARITAL = [
    "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent",
    "Married-AF-spouse",
]
# fmt: on
COLUMNS = ["age", "education", "marital-status"]
# What they are called in files.
HEADERS = ["age", "education", "marital_status"]
# Ages 17..90 in bins of five years, each list of values with its cell "Other".
CELLS = 15 * 17 * 8


@pytest.fixture(scope="module")
def published(portal: Portal, browser: Browser) -> Published:
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    visiting.upload(page, visiting.adult_csv(without_first=100), NAME)
    page.get_by_role("button", name="Yes, each row is one person").click(timeout=visiting.JOB_MS)
    declare(page)
    granted(browser.new_context(base_url=portal.address).new_page(), portal, NAME, "1")
    visiting.open_dataset(page, NAME)
    before = visiting.left(page)
    compare = visiting.release(page, title="Three columns of my own", columns=COLUMNS, amount="0.80")
    spent = before - visiting.left(page)
    address = visiting.publish(page)
    return Published(address, COLUMNS, visiting.download_all(page), compare, spent)


def declare(page: Page) -> None:
    """Age by its bounds, the others by their values; columns that are not named stay ignored."""
    visiting.open_column(page, "age")
    page.get_by_label("Whole numbers", exact=True).check()
    page.get_by_label("Lower limit").fill("17")
    page.get_by_label("Upper limit").fill("90")
    page.get_by_label("Bins of equal width").check()
    page.get_by_label("Whole numbers in a bin").fill("5")
    page.get_by_label("Missing values have").uncheck()
    expect(page.get_by_text("15 cells")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).click()
    for column, values in (("education", EDUCATION), ("marital-status", MARITAL)):
        visiting.open_column(page, column)
        page.get_by_label("Categories").check()
        page.get_by_label("Values", exact=True).fill("\n".join(values))
        page.get_by_label("No: others are counted in the cell “Other”").check()
        page.get_by_label("No: others are counted").check()
        page.get_by_label("Missing values have").uncheck()
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text(f"Saved: {column}.").wait_for()


def granted(page: Page, portal: Portal, name: str, amount: str) -> None:
    """An administrator gives a dataset its budget in the admin, knowing of all that hold nearly the same."""
    visiting.sign_in(page, "administrator", portal.passwords["administrator"])
    page.get_by_role("link", name=name, exact=True).click()
    visiting.grant(page, amount, "Trial of the portal")


def lines(published: Published, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(published.files[name].decode())))


def test_the_budget_granted_in_the_admin_pays_for_it(published):
    assert published.spent == Decimal("0.80")


def test_the_histogram_has_a_line_for_every_cell(published):
    assert len(lines(published, "histogram.csv")) == CELLS


def test_the_synthetic_table_has_the_columns_of_the_original(published):
    assert list(lines(published, "synthetic.csv")[0]) == HEADERS


def test_the_synthetic_table_has_only_declared_values(published):
    table = pd.read_csv(io.BytesIO(published.files["synthetic.csv"]))
    assert set(table["education"]) <= {*EDUCATION, "Other"}
    assert set(table["marital_status"]) <= {*MARITAL, "Other"}
    assert table["age"].between(17, 90).all()


def test_the_parquet_table_has_exact_types(published):
    table = pd.read_parquet(io.BytesIO(published.files["synthetic.parquet"]))
    assert pd.api.types.is_integer_dtype(table["age"])
    assert pd.api.types.is_string_dtype(table["education"])


def test_both_synthetic_tables_agree(published):
    text = pd.read_csv(io.BytesIO(published.files["synthetic.csv"]))
    exact = pd.read_parquet(io.BytesIO(published.files["synthetic.parquet"]))
    assert text.astype(str).equals(exact.astype(str))


def test_the_synthetic_counts_are_those_of_the_histogram(published):
    table = pd.read_csv(io.BytesIO(published.files["synthetic.csv"]))
    found = table.value_counts(["education", "marital_status"])
    histogram = pd.read_csv(io.BytesIO(published.files["histogram.csv"]))
    told = histogram.groupby(["education", "marital_status"])["count"].sum()
    assert found.to_dict() == told[told > 0].to_dict()


def test_the_intervals_lie_around_the_noisy_counts(published):
    histogram = pd.read_csv(io.BytesIO(published.files["histogram.csv"]))
    below = histogram["noisy_count"] - histogram["interval_lower"]
    above = histogram["interval_upper"] - histogram["noisy_count"]
    assert (below == above).all()
    assert below.nunique() == 1


def test_release_json_knows_every_file_by_its_sha256(published):
    told = json.loads(published.files["release.json"])["files"]
    assert sorted(told) == sorted(set(published.files) - {"release.json", "signature.json"})
    for name, fact in told.items():
        assert fact["sha256"] == hashlib.sha256(published.files[name]).hexdigest()


def test_the_data_package_is_valid(published, tmp_path):
    for name, content in published.files.items():
        (tmp_path / name).write_bytes(content)
    import frictionless

    report = frictionless.validate(str(tmp_path / "datapackage.json"))
    assert report.valid, report.flatten(["type", "note"])


def test_no_text_in_a_csv_begins_like_a_formula(published):
    for name in ("synthetic.csv", "histogram.csv"):
        for line in lines(published, name):
            for column in HEADERS:
                assert not line[column].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_the_same_table_again_is_refused_with_a_link_to_it(published, visit):
    page = visit("curator")
    visiting.upload(page, visiting.adult_csv(), "adult once more")
    link = page.get_by_role("link", name="Go to Adult census 1994 (demonstration)")
    link.click(timeout=visiting.JOB_MS)
    expect(page.get_by_role("heading", level=1)).to_have_text("Adult census 1994 (demonstration)")


def test_a_dropped_file_is_taken(published, visit):
    page = visit("curator")
    page.goto("/datasets/new/")
    transfer = page.evaluate_handle(
        "() => { const t = new DataTransfer();"
        " t.items.add(new File(['a,b\\n1,2\\n3,4\\n'], 'dropped.csv')); return t; }"
    )
    page.locator("[data-dropzone]").dispatch_event("drop", {"dataTransfer": transfer})
    expect(page.get_by_text("dropped.csv, 12 bytes")).to_be_visible()


def test_progress_is_shown_while_bytes_travel(published, visit):
    page = visit("curator")
    devtools = page.context.new_cdp_session(page)
    slow = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 1_000_000}
    devtools.send("Network.emulateNetworkConditions", slow)
    page.goto("/datasets/new/")
    file = {"name": "slow.csv", "mimeType": "text/csv", "buffer": visiting.adult_csv(without_first=200)}
    page.get_by_label("Drop a table here").set_input_files(file)
    page.get_by_role("button", name="Upload").click()
    expect(page.locator("[data-upload-percent]")).to_have_text(re.compile(r"^[1-9]\d? %$"), timeout=90_000)
    page.wait_for_url("**/datasets/*-*/", timeout=visiting.JOB_MS)
