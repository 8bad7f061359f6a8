"""Answers to many queries in the browser: all age ranges, tables of six columns, and a workload from a file."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser import visiting
from tests.browser.test_every_page import look_at, sideways
from tests.browser.visiting import JOB_MS, Portal

CODEBOOK = Path(visiting.ADULT).with_name("codebook.json")
# As the codebook names them for readers.
SIX = ["kind of employer", "education", "marital status", "place in the family", "race", "sex"]
SEARCH_MS = 300_000
ZCDP = "Adult under zCDP"


@pytest.fixture(scope="module")
def curator(portal: Portal, browser: Browser) -> Page:
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    return page


def begin(page: Page, dataset: str, title: str, kind: str) -> None:
    """From a dataset to the question of the product, with a kind of workload chosen."""
    visiting.open_dataset(page, dataset)
    page.get_by_role("button", name="New release").click()
    page.get_by_label("Title").fill(title)
    page.get_by_role("radio", name="Answers to many queries").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("radio", name=kind).check()


def to_method(page: Page) -> None:
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("#searches progress")).to_have_count(0, timeout=SEARCH_MS)


def spend(page: Page, amount: str, strategy: str) -> dict[str, bytes]:
    """From the chosen method through the job to the public page; returns the downloads."""
    page.get_by_role("textbox", name="Cost").fill(amount)
    page.get_by_text("All methods side by side").click()
    page.get_by_role("radio", name=strategy).check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="and release").click()
    page.get_by_role("link", name="Compare with the true counts").click(timeout=JOB_MS)
    expect(page.locator("#figure-1-plot .main-svg").first).to_be_visible(timeout=JOB_MS)
    expect(page.get_by_text("see true counts; this view is recorded")).to_be_visible()
    assert visiting.barriers(page) == []
    visiting.publish(page)
    expect(page.locator("#main-plot svg.still")).to_be_visible(timeout=JOB_MS)
    return visiting.download_all(page)


def answers(files: dict[str, bytes]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files["answers.csv"].decode())))


def mechanism(files: dict[str, bytes]) -> str:
    return json.loads(files["release.json"])["plan"]["mechanism"]


def test_all_age_ranges_by_p_identity(curator: Page) -> None:
    begin(curator, "Adult census 1994", "Every age range", "All ranges")
    curator.get_by_label("Column", exact=True).select_option("age")
    expect(curator.locator("#workload")).to_contain_text("2,775")
    to_method(curator)
    files = spend(curator, "0.50", "p-Identity")
    assert mechanism(files).startswith("p-identity")
    assert len(answers(files)) == 74 * 75 // 2
    everyone = next(line for line in answers(files) if line["query"] == "all rows")
    lower, upper = float(everyone["interval_lower"]), float(everyone["interval_upper"])
    # 95 % is half of that; four times it, and the true number lies outside once in a thousand million draws.
    assert abs((lower + upper) / 2 - 32561) < 2 * (upper - lower)


def test_a_stranger_adds_answers_on_the_public_page_without_scripts(curator: Page, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(curator.url)
    page.get_by_label("Sum or difference").fill("2 - 1")
    page.get_by_role("button", name="Work it out").click()
    expect(page.locator("#sum")).to_contain_text(re.compile(r"[\d,]+\s+±\s+[\d,]+\s+people"))
    context.close()


def test_an_uploaded_workload_by_the_automatic_choice(curator: Page) -> None:
    """Three named totals of the sex column's three cells."""
    begin(curator, "Adult census 1994", "My totals", "Your own queries")
    curator.get_by_role("checkbox", name="sex", exact=True).check()
    lines = b"query,Female,Male,Other\nwomen,1,0,0\nmen,0,1,0\nboth,1,1,0\n"
    file: FilePayload = {"name": "totals.csv", "mimeType": "text/csv", "buffer": lines}
    curator.get_by_label("Matrix", exact=True).set_input_files(file)
    to_method(curator)
    files = spend(curator, "0.20", "Automatic choice")
    released = {line["query"]: float(line["answer"]) for line in answers(files)}
    assert set(released) == {"women", "men", "both"}
    assert released["both"] == pytest.approx(released["women"] + released["men"], abs=1e-4)


def test_a_bad_matrix_is_explained_in_the_browser(curator: Page) -> None:
    begin(curator, "Adult census 1994", "Bad matrix", "Your own queries")
    curator.get_by_role("checkbox", name="sex", exact=True).check()
    file: FilePayload = {"name": "w.csv", "mimeType": "text/csv", "buffer": b"1,0,nan\n"}
    curator.get_by_label("Matrix", exact=True).set_input_files(file)
    curator.get_by_role("button", name="Continue").click()
    expect(curator.locator(".errorlist", has_text="NaN or infinity").last).to_be_visible()


def test_tables_of_six_columns_by_residual_planner(curator: Page, portal: Portal, browser: Browser) -> None:
    under_zcdp(curator, portal, browser)
    begin(curator, ZCDP, "All two-way tables", "All tables")
    for column in SIX:
        curator.get_by_role("checkbox", name=column, exact=True).check()
    expect(curator.locator("#workload")).to_contain_text("Queries")
    to_method(curator)
    files = spend(curator, "0.10", "ResidualPlanner")
    assert mechanism(files) == "residual-planner"
    released = {line["query"]: float(line["answer"]) for line in answers(files)}
    by_sex = sum(value for query, value in released.items() if query.startswith("race = White, sex"))
    assert by_sex == pytest.approx(released["race = White"], abs=1e-3)


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_the_pages_are_whole_and_quiet(
    curator: Page, visit: Callable[..., Page], width: int, scheme: str
) -> None:
    """Those of a draft for tables and of one for ranges, and the release that the test before made public."""
    begin(curator, "Adult census 1994", "A look at every page", "All ranges")
    to_method(curator)
    draft = curator.url.removesuffix("method/")
    curator.get_by_role("button", name="Continue").click()
    page = visit("curator", width, scheme)
    page.goto("/releases/?show=published")
    release = page.get_by_role("link", name="Every age range").get_attribute("href")
    addresses = [f"{draft}{step}/" for step in ("columns", "method", "review")]
    for address in (*addresses, f"{release}", f"{release}compare/", f"{release}?sum=2-1"):
        look_at(page, address)
        assert sideways(page) <= 0, page.url
    first = page.locator("#table tbody tr").first
    assert all(visiting.is_in_sight(cell) for cell in first.locator("th, td").all()[:4]), (
        "the margin is cut off"
    )


def under_zcdp(page: Page, portal: Portal, browser: Browser) -> None:
    """The census extract without its first lines, declared by its codebook, with a budget in ρ."""
    visiting.upload(page, visiting.adult_csv(without_first=7), ZCDP)
    page.get_by_role("button", name="Yes, each row is one person").click(timeout=JOB_MS)
    page.locator("#codebook").set_input_files(CODEBOOK)
    page.get_by_role("button", name="Import").click()
    page.wait_for_load_state()
    context = browser.new_context(base_url=portal.address)
    administrator = context.new_page()
    visiting.sign_in(administrator, "administrator", portal.passwords["administrator"])
    administrator.get_by_role("link", name=ZCDP, exact=True).click()
    administrator.get_by_text("Advanced: kind of budget").click()
    administrator.get_by_label("Counted in").select_option("zcdp")
    visiting.grant(administrator, "1", "For the tables")
    context.close()
