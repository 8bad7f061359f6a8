"""What a person mistypes is answered on the page, and is no fault in the browser's console: `visit` looks at it."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import FilePayload, Page, expect


def test_a_mistyped_cost_and_an_empty_file_leave_the_console_empty(visit: Callable[..., Page]) -> None:
    page = visit("curator")
    page.goto("/datasets/new/")
    empty: FilePayload = {"name": "empty.csv", "mimeType": "text/csv", "buffer": b""}
    page.locator("input[type=file]").first.set_input_files(empty)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("This file is empty.").first).to_be_visible()
    page.goto("/datasets/")
    page.locator("main a[href^='/datasets/']", has_text="dult").first.click()
    page.get_by_role("button", name="New release").first.click()
    page.get_by_role("button", name="Continue").last.click()
    page.locator("[name=columns]").first.check()
    page.locator("[name=people]").fill("30000")
    page.get_by_role("button", name="Choose method and accuracy").last.click()
    for cost in ("0", "abc"):
        amount = page.locator("[name=amount]").first
        amount.fill(cost)
        page.get_by_role("button", name="Continue").last.click()
        expect(page.locator(".errorlist li").first).to_be_visible()
        expect(page.locator("[name=amount]").first).to_have_value(cost)
