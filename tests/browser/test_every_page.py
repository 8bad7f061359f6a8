"""Every page at a phone's and a desk's width, in light and dark: whole, quiet, usable by keyboard, without barriers."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import visiting
from tests.browser.visiting import Portal

# Pixels of a page without an outline.
LONGEST = 4000
TITLE, RUNNING_COUNT = "Race and sex", "Adults with more than"
CURATOR_PAGES = [
    "/datasets/",
    "/datasets/new/",
    "/datasets/connect/",
    "{dataset}",
    "{dataset}edit/",
    "{dataset}rows/",
    "{dataset}domain/",
    "{dataset}domain/several/?columns=1&columns=3",
    "{dataset}domain/0/",
    "{dataset}domain/1/",
    "{dataset}domain/unit/",
    "{dataset}description/",
    "{dataset}share/",
    "{dataset}fit/",
    "{stream}home/",
    "/datasets/tableless/",
    "{dataset}ledger/",
    "{dataset}record/",
    "{draft}product/",
    "{draft}columns/",
    "{draft}method/",
    "{draft}review/",
    "{means_draft}columns/",
    "{means_draft}method/",
    "{means_draft}review/",
    "{means}compare/",
    "{means}",
    "{means}explore/",
    "{release}job/",
    "{release}compare/",
    "{release}publish/",
    "{release}details/",
    "{release}",
    "/releases/",
    "/releases/finished/",
    "/streams/",
    "/account/name/",
    "/account/password/",
    "/account/password/changed/",
    "/account/sessions/",
    "/account/tokens/",
    "/account/notices/",
    "/account/second-factors/",
    "/guide/",
    "/guide/risk/",
    "/guide/choice/",
    "/guide/queries/",
    "/guide/streams/",
    "/guide/synthetic-rows/",
]
STRANGER_PAGES = [
    "/",
    "/published/?words=race",
    "/api/v1/docs",
    "/account/sign-in/",
    "/account/password/replaced/",
    "/admin/login/",
    "/releases/",
    "/streams/",
    "{release}",
    "{release}explore/",
    "{release}embed/main/",
    "{public}",
    "{stream}",
    "/check/",
    "/guide/",
    "/guide/protection/",
]
ADMIN_PAGES = [
    "/office/",
    "/office/approvals/",
    "/office/budgets/{dataset_id}/",
    "/office/webhook-hosts/",
    "/account/second-factor-rule/",
    "/health/portal/",
    "/admin/",
] + [
    f"/admin/{name}/"
    for name in (
        "accounts/user",
        "datasets/dataset",
        "budgets/budget",
        "budgets/ledgerentry",
        "releases/release",
        "releases/releasejob",
    )
]


@pytest.fixture(scope="module")
def places(portal: Portal, browser: Browser) -> dict[str, str]:
    """Addresses of the demonstration dataset, a published release of it, and a complete draft."""
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    visiting.open_dataset(page, "Adult census 1994")
    dataset = page.url
    stream = page.get_by_role("link", name=RUNNING_COUNT).get_attribute("href").removesuffix("home/")
    visiting.release(page, title=TITLE, columns=["race", "sex"], amount="0.10")
    release = visiting.publish(page)
    visiting.open_dataset(page, "Adult census 1994")
    draft = draft_up_to_review(page)
    means = published_means(page, dataset)
    means_draft = means_up_to_review(page, dataset)
    return {
        "dataset": dataset,
        "dataset_id": dataset.rstrip("/").rpartition("/")[2],
        "stream": stream,
        "public": dataset.replace("/datasets/", "/published/datasets/"),
        "release": release,
        "draft": draft,
        "means": means,
        "means_draft": means_draft,
    }


def means_up_to_review(page: Page, dataset: str) -> str:
    """Mean hours per week by sex."""
    page.goto(dataset)
    page.get_by_role("button", name="New release").click()
    page.get_by_label("Totals and means").check()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("group", name="Columns to measure").get_by_label(
        "hours of work a week", exact=True
    ).check()
    page.get_by_role("group", name="Groups").get_by_label("sex", exact=True).check()
    page.get_by_label("Your estimate of the number of people").fill("32000")
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Cost ε").fill("0.10")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/review/")
    return page.url.removesuffix("review/")


def published_means(page: Page, dataset: str) -> str:
    means_up_to_review(page, dataset)
    page.get_by_role("button", name="Spend ε 0.10 and release").click()
    page.get_by_role("link", name="Compare with the true counts").click(timeout=visiting.JOB_MS)
    page.wait_for_url("**/compare/")
    return visiting.publish(page)


def draft_up_to_review(page: Page) -> str:
    page.get_by_role("button", name="New release").click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("age", exact=True).check()
    page.get_by_role("button", name="Choose method and accuracy").click()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/review/")
    return page.url.removesuffix("review/")


def look_at(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_load_state("networkidle")
    for plot in page.locator("[data-figure]:visible").all():
        expect(plot.locator(".main-svg").first).to_be_visible()
    assert not is_long(page) or page.locator("nav:is(.jump, .sticky)").is_visible(), page.url


def is_long(page: Page) -> bool:
    """Whether a desk's reader needs an outline at its side."""
    return page.evaluate(f"innerWidth >= 1280 && document.documentElement.scrollHeight > {LONGEST}")


def sideways(page: Page) -> int:
    """By how many pixels the page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.mark.sampled
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_a_curators_pages_are_whole_and_quiet(places, visit, width, scheme):
    page, barriers = visit("curator", width, scheme), []
    for address in CURATOR_PAGES:
        look_at(page, address.format(**places))
        assert sideways(page) <= 0, page.url
        barriers += visiting.barriers(page)
    assert barriers == []


def test_on_a_phone_the_first_means_are_in_sight(places, visit):
    """People and totals stand before them, and long groups pushed them out of the frame."""
    page = visit(width=390)
    page.goto(places["means"])
    heads = page.locator(".means thead th").all_inner_texts()
    place = next(n for n, head in enumerate(heads) if head.startswith("Mean"))
    assert visiting.is_in_sight(page.locator(".means tbody tr").first.locator("th, td").nth(place))


def test_long_names_break_their_lines(portal, visit):
    """A column and a title of 100 letters without a blank."""
    page, name = visit("curator", 390), "x" * 100
    page.goto("/datasets/new/")
    table = {"name": "long.csv", "mimeType": "text/csv", "buffer": f"{name}\nyes\nno\n".encode()}
    page.get_by_label("Drop a table here").set_input_files(table)
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Yes, each row is one person").click(timeout=visiting.JOB_MS)
    page.get_by_role("button", name="Choose all").click()
    page.get_by_role("button", name="Yes or no").click()
    assert sideways(page) <= 0
    page.get_by_role("link", name="long", exact=True).click()
    page.get_by_role("button", name="New release").click()
    page.get_by_label("Title").fill(name)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label(name).check()
    assert sideways(page) <= 0


@pytest.mark.sampled
@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
def test_a_strangers_pages_are_whole_and_quiet(places, visit, width, scheme):
    page, barriers = visit("", width, scheme), []
    for address in STRANGER_PAGES:
        look_at(page, address.format(**places))
        assert sideways(page) <= 0, page.url
        barriers += visiting.barriers(page)
    assert barriers == []


@pytest.mark.sampled
@pytest.mark.parametrize("width", [390, 1280])
def test_an_administrators_pages_are_whole_and_quiet(places, visit, width):
    page = visit("administrator", width)
    for address in ADMIN_PAGES:
        look_at(page, address.format(**places))
        assert sideways(page) <= 0, page.url
        # What Django's own admin pages have is Django's.
        assert address.startswith("/admin/") or not visiting.barriers(page)


def test_the_wizard_works_by_keyboard_alone(places, visit):
    page = visit("curator")
    page.goto(places["dataset"])
    press_on(page, "New release")
    type_into(page, "Title", "By keyboard")
    press_on(page, "Continue")
    reach(page, "age")
    page.keyboard.press("Space")
    type_into(page, "Your estimate of the number of people", "32000")
    press_on(page, "Choose method and accuracy")
    type_into(page, "Cost ε", "0.20")
    press_on(page, "Continue")
    expect(page).to_have_url(re.compile("/review/$"))
    press_on(page, "Spend ε 0.20 and release")
    expect(page).to_have_url(re.compile("/job/$"))


def focused(page: Page) -> str:
    """The name of the control that has the focus."""
    return page.evaluate(
        "() => { const e = document.activeElement;"
        " return (e.labels?.length ? e.labels[0] : e).textContent.trim(); }"
    )


def reach(page: Page, name: str) -> None:
    """Press Tab until the control of that name has the focus."""
    for _ in range(80):
        if focused(page).startswith(name):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach “{name}” on {page.url}")


def press_on(page: Page, name: str) -> None:
    reach(page, name)
    before = page.url
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: address != before)
    page.wait_for_load_state()


def type_into(page: Page, name: str, text: str) -> None:
    reach(page, name)
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def test_a_half_width_typed_into_the_dial_sets_the_cost(places, visit):
    page = visit("curator")
    page.goto(places["draft"] + "method/")
    page.locator("#half-width").fill("20")
    # ± 20 people at 95 % is Laplace noise of scale about 20 / ln 20 = 6.7, so ε is about 0.15.
    expect(page.get_by_label("Cost ε")).to_have_value(re.compile(r"^0\.1[45]\d*$"))


def test_an_unpublished_release_is_nowhere_for_a_stranger(places, visit):
    answer = visit().request.get(places["draft"])
    assert answer.status == 404


def test_without_scripts_the_question_of_a_dialog_stands_on_the_page(places, portal, browser):
    context = browser.new_context(base_url=portal.address, java_script_enabled=False)
    page = context.new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    page.goto(places["release"] + "job/")
    expect(page.get_by_role("button", name="Withdraw")).to_have_count(1)
    expect(page.get_by_label("Reason")).to_be_visible()
    context.close()


def test_a_withdrawn_release_is_gone(places, visit):
    page = visit("curator")
    page.goto(places["release"] + "job/")
    page.get_by_role("button", name="Withdraw").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    page.get_by_text("Withdrawn. The page and the downloads are closed").wait_for()
    answers = [visit().request.get(places["release"] + end) for end in ("", "download/histogram.csv")]
    assert [answer.status for answer in answers] == [410, 410]
