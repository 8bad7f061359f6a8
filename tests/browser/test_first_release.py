"""A curator who has never been here, from the first click to a published summary, asking for a budget on the way."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Browser, FilePayload, expect

from tests.browser import visiting
from tests.browser.acting import Actor
from tests.browser.visiting import Portal

NAME, MOST_ACTIONS = "A census of our own", 25
CODEBOOK = Path(visiting.ADULT).with_name("codebook.json")


def test_fifteen_columns_are_published_in_few_actions(portal: Portal, browser: Browser) -> None:
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    curator = Actor(page)
    dataset = uploaded_and_declared(curator)
    ask_for_a_budget(curator)
    grant(portal, browser)
    page.goto(dataset)
    publish_a_summary(curator)
    assert len(curator.did) <= MOST_ACTIONS, curator.did
    expect(page.get_by_role("heading", level=1)).to_contain_text("age")
    assert visiting.barriers(page) == []


def uploaded_and_declared(curator: Actor) -> str:
    curator.click("link", "Upload a table")
    content = visiting.adult_csv(without_first=31)
    file: FilePayload = {"name": f"{NAME}.csv", "mimeType": "text/csv", "buffer": content}
    curator.give(curator.page.get_by_label("Drop a table here"), file)
    curator.click("button", "Upload")
    curator.click("button", "Yes, each row is one person")
    curator.give(curator.page.locator("#codebook"), CODEBOOK)
    curator.click("button", "Import")
    expect(curator.page.get_by_text("14 of 15 columns are declared")).to_be_visible()
    assert visiting.barriers(curator.page) == []
    curator.click("link", NAME)
    return curator.page.url


def ask_for_a_budget(curator: Actor) -> None:
    curator.click("button", "Ask for a budget")
    curator.type("What it is for", "Ages of women and men, to within a hundred people.")
    curator.click("button", "Send to the administrators")
    curator.page.get_by_text("Request sent.").wait_for()


def grant(portal: Portal, browser: Browser) -> None:
    context = browser.new_context(base_url=portal.address)
    office = context.new_page()
    visiting.sign_in(office, "administrator", portal.passwords["administrator"])
    expect(office.get_by_text("Ages of women and men")).to_be_visible()
    assert visiting.barriers(office) == []
    office.get_by_role("link", name="Grant", exact=True).click()
    expect(office.get_by_role("checkbox", name=re.compile("demonstration"))).to_be_visible()
    assert visiting.barriers(office) == []
    visiting.grant(office, "1", "As asked")
    context.close()


def publish_a_summary(curator: Actor) -> None:
    curator.click("button", "New release")
    curator.click("button", "Continue")
    visiting.tick_columns(curator.page, ["age", "sex"])
    curator.type("Your estimate of the number of people", "32000")
    curator.click("button", "Choose method and accuracy")
    curator.type("Cost ε", "0.50")
    curator.click("button", "Use this")
    curator.click("button", "Spend ε 0.50 and release")
    curator.page.get_by_role("link", name="Compare with the true counts").wait_for(timeout=visiting.JOB_MS)
    curator.click("link", "Publish")
    curator.click("button", "Publish")
    curator.page.get_by_text("Published. Anyone with the address").wait_for()
