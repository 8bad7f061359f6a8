"""Tables that nobody has tried before, from the file to a published page: the curator's actions are counted.

The budget is asked for on the way, who is protected is said, and what is spent and published is confirmed.
"""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable

import openpyxl
import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser import visiting
from tests.browser.acting import Actor
from tests.browser.visiting import JOB_MS, Portal

MOST_ACTIONS = 12
PEOPLE = "3000"


def people(seed: int) -> list[tuple[str, int]]:
    draw = random.Random(seed)
    return [
        (draw.choice(("f", "m")), min(99, int(draw.gauss(42, 18)) % 100)) for _person in range(int(PEOPLE))
    ]


def messy_csv() -> FilePayload:
    """Titles, two lines of merged names, decimal commas, sums and notes, as a ministry writes it."""
    rows = "".join(f"North;{sex};{age};{1900 + age},50\n" for sex, age in people(1))
    above = "Ministry of Labour, Department of Statistics\nTable 3: Persons by district, 2023\n\n"
    names = "District;Persons;;Income\n;sex;age;gross\n"
    below = "Total;;;4000,75\nSource: Ministry of Labour, own computation\n* provisional\n"
    return payload("Table 3.csv", (above + names + rows + below).encode("windows-1252"))


def titled_workbook() -> FilePayload:
    """A sheet with titles and a note around its table, after another sheet that only says what this is."""
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["Please read the notes on the next sheet first."])
    sheet = book.create_sheet("Persons 2023")
    for line in (["Regional health survey"], ["as of 31 December 2023"], [], ["Sex", "Age", "Weight in kg"]):
        sheet.append(line)
    for sex, age in people(2):
        sheet.append([sex, age, 55 + age % 40])
    sheet.append(["Own computation, provisional"])
    content = io.BytesIO()
    book.save(content)
    return payload("health.xlsx", content.getvalue())


def several_rows_a_person() -> FilePayload:
    """Up to three visits of each patient."""
    rows = [
        f"P{number:05},{sex},{age},2023-0{visit + 1}-11"
        for number, (sex, age) in enumerate(people(3))
        for visit in range(1 + number % 3)
    ]
    return payload("visits.csv", "\n".join(["patient_id,sex,age,seen_on", *rows, ""]).encode())


def payload(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def read_as_proposed(curator: Actor) -> None:
    """The titles and notes around the table are proposed; then the first question."""
    curator.click("button", "Read it this way")
    curator.click("button", "Yes, each row is one person")


def read_another_sheet(curator: Actor) -> None:
    curator.click("button", "Read “Persons 2023”")
    curator.click("button", "Yes, each row is one person")
    # The last line is a note, and the sheet is read again without it.


def say_who_is_one_person(curator: Actor) -> None:
    curator.click("button", "No, rows with the same patient_id are one person")


@pytest.mark.parametrize(
    ("table", "say", "sex"),
    [
        (messy_csv, read_as_proposed, "Persons: sex"),
        (titled_workbook, read_another_sheet, "Sex"),
        (several_rows_a_person, say_who_is_one_person, "sex"),
    ],
)
def test_a_new_table_is_published_in_twelve_actions(
    portal: Portal, browser: Browser, table: Callable[[], FilePayload], say: Callable[[Actor], None], sex: str
) -> None:
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    curator = Actor(page)
    name = upload(curator, table())
    say(curator)
    curator.type(f"Values: {sex}", "f\nm")
    curator.click("button", "Save and choose what to publish")
    curator.type("Your estimate of the number of people", PEOPLE)
    curator.click("button", "Continue as recommended")
    curator.click("button", "Ask for this")
    page.get_by_text("Request sent.").wait_for()
    grant(portal, browser, name)
    publish(curator)
    assert len(curator.did) <= MOST_ACTIONS, curator.did
    expect(page.get_by_role("heading", level=1)).to_contain_text("age", ignore_case=True)
    expect(page.locator("main")).to_contain_text("±")
    assert visiting.barriers(page) == []


def upload(curator: Actor, file: FilePayload) -> str:
    curator.page.goto("/datasets/new/")
    curator.give(curator.page.get_by_label("Drop a table here"), file)
    curator.click("button", "Upload")
    return file["name"].rpartition(".")[0]


def grant(portal: Portal, browser: Browser, name: str) -> None:
    """The administrator's part: the request's amount stands there already."""
    context = browser.new_context(base_url=portal.address)
    office: Page = context.new_page()
    visiting.sign_in(office, "administrator", portal.passwords["administrator"])
    office.locator(".notice", has_text=name).get_by_role("link", name="Grant", exact=True).click()
    administrator = Actor(office)
    administrator.type("Reason", "As asked")
    administrator.click("button", "Grant")
    office.get_by_text("Granted. A 10 % suspicion").wait_for()
    assert len(administrator.did) == 2
    context.close()


def publish(curator: Actor) -> None:
    """From wherever the curator is when they come back: the list of datasets leads on."""
    curator.page.goto("/datasets/")
    curator.click("link", "Continue with")
    curator.agree("I understand that the budget is spent")
    curator.click("button", "and publish")
    curator.page.wait_for_url(re.compile(r"/releases/[0-9a-f-]+/$"), timeout=JOB_MS)
