"""A curator is asked whether 0 is common, and gives it a cell with one click."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import visiting


@pytest.mark.parametrize("width", [1280, 390])
def test_a_common_value_gets_its_cell_by_a_click(visit: Callable[..., Page], width: int) -> None:
    page = visit("curator", width)
    visiting.open_dataset(page, "Adult census 1994")
    page.goto(f"{page.url}domain/10/")
    values, cells = page.get_by_label("Values of their own"), page.locator("#cells")
    expect(values).to_have_value("0 99999")
    values.fill("")
    expect(cells).to_contain_text("20 cells")
    expect(cells).to_contain_text("Is 99999 common?")
    assert visiting.barriers(page) == []
    page.get_by_role("button", name="Yes, give 0 a cell of its own").click()
    expect(values).to_have_value("0")
    expect(cells).to_contain_text("21 cells")
    expect(cells).not_to_contain_text("Is 0 common?")
    page.get_by_role("button", name="Yes, give 99999 a cell of its own").click()
    expect(cells).to_contain_text("22 cells")
    expect(cells).not_to_contain_text("common?")
