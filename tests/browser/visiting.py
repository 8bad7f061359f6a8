"""What a visitor of the portal does, in the visitor's own words."""

from __future__ import annotations

import gzip
import io
import re
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, FilePayload, Locator, Page, Response

ADULT = Path(__file__).resolve().parents[2] / "dpportal" / "datasets" / "demonstration" / "adult.csv.gz"
JOB_MS = 300_000
# In ε.


@dataclass(frozen=True)
class Portal:
    address: str
    passwords: dict[str, str]


@dataclass
class Watch:
    """Notes every error in a page's console and every answer of 400 or above."""

    page: Page
    troubles: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._heard)
        self.page.on("response", self._answered)
        self.page.on("pageerror", lambda error: self.troubles.append(f"{self.page.url}: {error}"))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"{self.page.url}: {message.text}")

    def _answered(self, response: Response) -> None:
        if response.status >= 400:
            self.troubles.append(f"{response.status} {response.url}")


@dataclass(frozen=True)
class Published:
    """A release that was made and published in the browser."""

    address: str
    columns: list[str]
    files: dict[str, bytes]
    compare: str
    spent: Decimal


def barriers(page: Page) -> list[str]:
    """What axe-core finds that keeps people from using the page: rule, element, page."""
    found = Axe().run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
    return [f"{rule['id']}: {node['target']} on {page.url}" for rule in found for node in rule["nodes"]]


def is_in_sight(cell: Locator) -> bool:
    """Whether a cell of a table is whole within the table's frame, before anybody drags it sideways."""
    seen: bool = cell.evaluate(
        """(cell) => {
            const frame = cell.closest(".table-frame").getBoundingClientRect(), own = cell.getBoundingClientRect();
            return own.left >= frame.left - 1 && own.right <= frame.right + 1;
        }"""
    )
    return seen


def sign_in(page: Page, role: str, password: str) -> None:
    page.goto("/account/sign-in/")
    page.get_by_label("Username").fill(role)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda address: "/sign-in/" not in address)


def public_link(page: Page, title: str, address: str = "/", *, exact: bool = False) -> Locator:
    """A link to what the demonstration publishes, which takes it some time after the start: the page is read anew."""
    page.goto(address)
    link = page.get_by_role("link", name=title, exact=exact).first
    until = time.monotonic() + 2 * JOB_MS / 1000
    while not link.count() and time.monotonic() < until:
        page.wait_for_timeout(1000)
        page.reload()
    return link


def open_dataset(page: Page, name: str) -> None:
    page.goto("/datasets/")
    page.get_by_role("link", name=name).first.click()
    page.wait_for_load_state()


def open_column(page: Page, name: str) -> None:
    """From any page of the domain to that of a column."""
    links = page.get_by_label("Columns", exact=True).get_by_role(
        "link", name=re.compile(f"^{re.escape(name)}( |$)")
    )
    links.click()
    page.get_by_role("heading", name=name, exact=True).wait_for()


def grant(page: Page, amount: str, reason: str) -> None:
    """On a dataset's page of grants: so much, knowing of all that hold nearly the same people."""
    for box in page.locator("[name=knowing]").all():
        box.check()
    page.get_by_role("textbox", name="Another amount").fill(amount)
    page.get_by_label("Reason").first.fill(reason)
    # What all that these people are granted means is asked for a moment later, and may ask for a second confirmation.
    page.wait_for_timeout(600)
    certain, granted = (
        page.get_by_label("almost nothing protects"),
        page.get_by_text(re.compile("Granted .*A 10 % suspicion")),
    )
    was_asked = certain.is_visible()
    if was_asked:
        confirm(page, certain)
    page.get_by_role("button", name="Grant", exact=True).click()
    if not was_asked:
        granted.or_(certain).first.wait_for()
        # On a slow machine the question comes with the answer to the button.
        if certain.is_visible():
            confirm(page, certain)
            page.get_by_role("button", name="Grant", exact=True).click()
    granted.wait_for()


def confirm(page: Page, certain: Locator) -> None:
    certain.check()
    # The tick must not be taken away by an answer.
    page.wait_for_timeout(600)


def left(page: Page) -> Decimal:
    """What the budget strip of the page says is left."""
    found = re.search(r"([\d.]+)\s+left", page.get_by_label("Privacy budget").inner_text())
    assert found
    return Decimal(found[1])


def release(page: Page, *, title: str, columns: list[str], amount: str) -> str:
    """From a dataset's page through the wizard to the finished job; returns the compare page's address."""
    page.get_by_role("button", name="New release").click()
    page.get_by_label("Title").fill(title)
    page.get_by_role("button", name="Continue").click()
    tick_columns(page, columns)
    page.get_by_label("Your estimate of the number of people").fill("32000")
    page.get_by_text("People in a typical cell").wait_for()
    page.get_by_role("button", name="Choose method and accuracy").click()
    page.get_by_label("Cost ε").fill(amount)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name=f"Spend ε {amount} and release").click()
    page.get_by_role("link", name="Compare with the true counts").click(timeout=JOB_MS)
    page.wait_for_url("**/compare/")
    return page.url


def tick_columns(page: Page, columns: Sequence[str]) -> None:
    """These alone of the columns that a release counts, whichever are ticked in advance."""
    ticked = page.locator("input[type=checkbox][name=columns]:checked")
    while ticked.count():
        ticked.first.uncheck()
    for column in columns:
        page.get_by_label(column, exact=True).check()


def publish(page: Page) -> str:
    """From the compare page to the public one; returns its address."""
    page.get_by_role("link", name="Back to the release").click()
    page.get_by_role("link", name="Publish").click()
    doubt = page.get_by_label("publish it all the same")
    if doubt.count():
        doubt.check()
    page.get_by_role("button", name="Publish").click()
    page.get_by_text("Published. Anyone with the address").wait_for()
    return page.url


def download_all(page: Page) -> dict[str, bytes]:
    """The files of the zip on a public page."""
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download all").click()
    with zipfile.ZipFile(io.BytesIO(waiting.value.path().read_bytes())) as archive:
        return {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist()}


def adult_csv(*, without_first: int = 0) -> bytes:
    """The census extract (UCI Adult, Becker and Kohavi 1996, CC BY 4.0), or a part of it."""
    header, *rows = gzip.decompress(ADULT.read_bytes()).splitlines(keepends=True)
    return header + b"".join(rows[without_first:])


def upload(page: Page, content: bytes, name: str) -> None:
    page.goto("/datasets/new/")
    file: FilePayload = {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": content}
    page.get_by_label("Drop a table here").set_input_files(file)
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Upload").click()
    page.wait_for_url("**/datasets/*-*/", timeout=JOB_MS)
