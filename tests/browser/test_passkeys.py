"""A passkey of a real browser's device: added after the password, asked for as the second step, and enough alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.visiting import Portal, Watch, barriers, sign_in

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def page(portal: Portal, browser: Browser) -> Iterator[Page]:
    """A page with a device, at the portal by a name: browsers have no passkeys for numbers."""
    by_name = portal.address.replace("127.0.0.1", "localhost")
    context = browser.new_context(base_url=by_name)
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    session.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})
    watch = Watch(page)
    yield page
    context.close()
    assert watch.troubles == []


def sign_out(page: Page) -> None:
    page.get_by_role("banner").locator("summary").first.click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/")


def test_a_passkey_is_added_and_signs_in(portal: Portal, page: Page) -> None:
    sign_in(page, "curator", portal.passwords["curator"])
    page.goto("/account/second-factors/")
    page.get_by_label("Name").fill("My computer")
    page.get_by_role("button", name="Add a passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    assert barriers(page) == []
    page.get_by_role("link", name="I have kept them").click()
    expect(page.get_by_text("My computer")).not_to_have_count(0)
    assert barriers(page) == []
    sign_out(page)

    page.goto("/account/sign-in/")
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.wait_for_url("**/datasets/")
    sign_out(page)

    page.goto("/account/sign-in/")
    page.get_by_label("Username").fill("curator")
    page.get_by_label("Password").fill(portal.passwords["curator"])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/second-step/")
    assert barriers(page) == []
    page.get_by_role("button", name="Use a passkey").click()
    page.wait_for_url("**/datasets/")

    page.goto("/account/sessions/")
    expect(page.get_by_role("cell", name=re.compile("password and passkey"))).to_be_visible()
    page.goto("/account/second-factors/")
    page.get_by_role("button", name="Remove My computer").click()
    expect(page.get_by_role("button", name="Remove My computer")).to_have_count(0)
