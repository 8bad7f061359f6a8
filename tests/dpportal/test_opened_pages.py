"""A browser opens every page: one without an id is in the lists of `tests/browser/test_every_page.py`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from tests.browser.test_every_page import ADMIN_PAGES, CURATOR_PAGES, STRANGER_PAGES
from tests.dpportal.accounts.test_doors import named

LISTS = {"": STRANGER_PAGES, "curator": CURATOR_PAGES, "administrator": ADMIN_PAGES}
# What a page fetches into itself.
PARTS = {"guide_risk_figure", "search_progress"}


def pages_for(client: Client) -> Iterator[str]:
    """The addresses without an id at which a visitor finds a page of their own."""
    for name, pattern in named(get_resolver()):
        if name not in PARTS and not pattern.pattern.converters:
            answer = client.get(reverse(name))
            if answer.status_code == 200 and answer.headers["Content-Type"].startswith("text/html"):
                yield reverse(name)


@pytest.mark.slow
@pytest.mark.every_day
@pytest.mark.django_db  # the visitor is a fixture named at run time
@pytest.mark.parametrize("visitor", LISTS)
def test_a_browser_opens_every_page_without_an_id(
    client: Client, request: pytest.FixtureRequest, visitor: str
) -> None:
    if visitor:
        client.force_login(request.getfixturevalue(visitor))
    listed = {address.partition("?")[0] for addresses in LISTS.values() for address in addresses}
    missing = sorted(set(pages_for(client)) - listed)
    assert not missing, f"{missing}: in the list of its visitors in tests/browser/test_every_page.py"
