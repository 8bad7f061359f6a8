"""The twelve main pages as pictures for the README: `python -m tests.browser.screenshots`, in a minute.

Each is taken at 1280 and at 390 pixels, in the light and in the dark, of a fresh portal with its demonstration.
"""

from __future__ import annotations

import base64
import re
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import visiting
from tests.browser.started import ROOT, chromium, started
from tests.browser.visiting import Portal

FOLDER = ROOT / "static" / "img" / "pages"
# Of a page's first view, in pixels.
SIZES = {1280: 900, 390: 844}
SCHEMES: tuple[Literal["light"], Literal["dark"]] = ("light", "dark")
QUALITY = 40
DATASET, EXAMPLES = "Adult census 1994", ".first-steps li:first-child a"


def main() -> None:
    """Take them all, in place of those that are there."""
    with (
        tempfile.TemporaryDirectory() as data,
        started(Path(data)) as portal,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        wait_for_examples(portal, browser)
        begin = {"first-steps": ("curator", "/datasets/")}
        take_all(portal, browser, begin)
        take_all(portal, browser, addresses(portal, browser))
        browser.close()


def wait_for_examples(portal: Portal, browser: Browser) -> None:
    """Until the demonstration is finished: a portal starts without it where it takes long."""
    page = opened(portal, browser, "curator", 1280, "light")
    page.goto("/datasets/")
    while page.locator(EXAMPLES).count() < 2:
        page.wait_for_timeout(2000)
        page.reload()
    page.context.close()


def take_all(portal: Portal, browser: Browser, pages: dict[str, tuple[str, str]]) -> None:
    """Each page in all sizes and schemes."""
    for (name, (role, address)), width, scheme in (
        (page, width, scheme) for page in pages.items() for width in SIZES for scheme in SCHEMES
    ):
        take(portal, browser, FOLDER / f"{name}-{width}-{scheme}.webp", role, address, width, scheme)


def addresses(portal: Portal, browser: Browser) -> dict[str, tuple[str, str]]:
    """Who sees each page, and where it is; what it shows is made first."""
    page = opened(portal, browser, "curator", 1280, "light")
    # The small pictures are drawn by a worker once somebody looks.
    page.goto("/published/")
    page.goto("/datasets/")
    release, stream = (str(link.get_attribute("href")) for link in page.locator(EXAMPLES).all())
    visiting.open_dataset(page, DATASET)
    dataset = page.url
    page.get_by_role("button", name="New release").click()
    page.get_by_role("button", name="Continue").click()
    visiting.tick_columns(page, ["education", "sex"])
    page.get_by_role("button", name="Choose method and accuracy").click()
    page.wait_for_url("**/method/")
    draft = page.url.removesuffix("method/")
    page.locator("#method .actions button").click()
    page.wait_for_url("**/review/")
    visiting.upload(page, visiting.adult_csv(without_first=5000), "Survey of incomes")
    page.reload()
    page.get_by_role("button", name="Yes, each row is one person").click(timeout=visiting.JOB_MS)
    own = page.url.removesuffix("domain/")
    page.get_by_role("button", name="Choose all").click()
    page.get_by_role("button", name="Use suggestions").click()
    page.wait_for_load_state()
    page.goto(own)
    page.get_by_role("button", name="Ask for a budget").click()
    page.get_by_label("What it is for").fill("A yearly table of income by education, within ± 20 people.")
    page.get_by_role("button", name="Send to the administrators").click()
    page.get_by_text("Request sent.").wait_for()
    grant = f"/office/budgets/{own.rstrip('/').rpartition('/')[2]}/"
    return {
        "landing": ("", "/"),
        "public": ("", release),
        "stream": ("", stream),
        "public-dataset": ("", dataset.replace("/datasets/", "/published/datasets/")),
        "declaration": ("curator", f"{own}domain/"),
        "dataset": ("curator", dataset),
        "method": ("curator", f"{draft}method/"),
        "review": ("curator", f"{draft}review/"),
        "compare": ("curator", f"{release}compare/"),
        "grant": ("administrator", grant),
        "guide": ("", "/guide/"),
    }


def opened(portal: Portal, browser: Browser, role: str, width: int, scheme: Literal["light", "dark"]) -> Page:
    """A page of somebody who signed in, or of a stranger."""
    context = browser.new_context(
        viewport={"width": width, "height": SIZES[width]}, color_scheme=scheme, base_url=portal.address
    )
    page = context.new_page()
    if role:
        visiting.sign_in(page, role, portal.passwords[role])
    return page


def take(
    portal: Portal,
    browser: Browser,
    file: Path,
    role: str,
    address: str,
    width: int,
    scheme: Literal["light", "dark"],
) -> None:
    """The first view of a page, as WebP: a few dozen kB."""
    page = opened(portal, browser, role, width, scheme)
    page.goto(address)
    page.wait_for_load_state("networkidle")
    for plot in page.locator("[data-figure]:visible").all():
        plot.locator(".main-svg").first.wait_for()
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    file.write_bytes(base64.b64decode(taken["data"]))
    page.context.close()
    print(re.sub(f"^{re.escape(str(ROOT))}/", "", str(file)), file.stat().st_size)


if __name__ == "__main__":
    main()
