"""What a screen reader says of five pages, in order: headings, controls, charts in words, heads of tables."""

from __future__ import annotations

import pytest

from tests.browser.visiting import public_link

EXAMPLE, SERIES, DATASET = (
    "Adults by age and sex, 1994",
    "Adults with more than $50,000 a year, so far",
    "Adult census 1994 (demonstration)",
)
LANDING = [
    'link "Skip to the content"',
    'heading "Public statistics from private data" [level=1]',
    'searchbox "Words"',
    'combobox "Kind"',
    'button "Search"',
    f'link "{EXAMPLE}"',
]
RELEASE = [
    f'heading "{EXAMPLE}" [level=1]',
    'button "± ',
    'navigation "On this page"',
    'combobox "Along"',
    'figure "People by age × sex"',
    'heading "People by age × sex" [level=2]',
    'img "People by age × sex. Female: highest ',
    'heading "Add up cells" [level=2]',
    'group "age"',
    'heading "Counts" [level=2]',
    'table "Counts"',
    'columnheader "Noisy count',
    'columnheader "Margin"',
    'rowheader "17"',
    'rowheader "Female"',
    'heading "Downloads" [level=2]',
    'heading "How it was made" [level=2]',
    'heading "Everything released about these people" [level=2]',
]
STREAM = [
    f'heading "{SERIES}" [level=1]',
    'button "± ',
    'figure "Running count"',
    'img "Running count. Highest: ',
    "; lowest: ",
    "Up from ",
    'img "New in each period. Highest: ',
    'heading "Published periods" [level=2]',
    'columnheader "Period"',
    'columnheader "Margin"',
    'heading "Downloads" [level=2]',
]
PUBLIC_DATASET = [
    f'heading "{DATASET}" [level=1]',
    'heading "Privacy cost so far" [level=2]',
    'heading "Releases" [level=2]',
    f'link "{EXAMPLE}"',
    'heading "Codebook" [level=2]',
    'columnheader "Column',
]
GUIDE = [
    'heading "Guide" [level=1]',
    'navigation "Sections of the guide"',
    'heading "Words that pages explain" [level=2]',
    "term: Privacy cost ε",
    'heading "What ε means" [level=2]',
    'img "Twenty noisy counts with margins',
]


@pytest.mark.parametrize(
    ("first", "spoken"),
    [("", LANDING), (EXAMPLE, RELEASE), (SERIES, STREAM), (DATASET, PUBLIC_DATASET), ("Guide", GUIDE)],
)
def test_a_page_is_spoken_in_order(visit, first: str, spoken: list[str]) -> None:
    page = visit()
    listed = public_link(page, first or EXAMPLE, "/?words=census", exact=True)
    if first:
        listed.click()
        page.get_by_role("heading", level=1, name=first, exact=True).wait_for()
    tree = page.locator("body").aria_snapshot()
    at = 0
    for part in spoken:
        assert part in tree[at:], f"{part} does not come after what is before it"
        at = tree.index(part, at) + len(part)
