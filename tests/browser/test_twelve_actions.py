"""Tables that nobody has tried before, from the file to a published page: the curator's actions are counted.

The budget is asked for on the way, who is protected is said, and what is spent and published is confirmed. A person's
time is that of reading every text in sight once, and of acting.
"""

from __future__ import annotations

import io
import random
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import openpyxl
import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser import visiting
from tests.browser.acting import Actor
from tests.browser.visiting import JOB_MS, Portal

MOST_ACTIONS, MOST_SECONDS = 12, 4 * 60
PEOPLE = 3000


def people(seed: int) -> Iterator[tuple[random.Random, str, int]]:
    draw = random.Random(seed)
    for _person in range(PEOPLE):
        yield draw, draw.choice("fm"), min(99, int(draw.gauss(42, 18)) % 100)


def messy_csv() -> FilePayload:
    """Saved from a spreadsheet: titles, a blank line, decimal commas, a sum and a source, all filled up with fields."""
    rows = "".join(
        f"{draw.choice(('Altdorf', 'Seeburg', 'Talheim'))};{sex};{age};{draw.choice(('ledig', 'verwitwet'))};"
        f"{draw.choice(('ja', 'nein'))};{1900 + age},50;{draw.randint(1, 28):02}.03.2023\n"
        for draw, sex, age in people(1)
    )
    above = "Statistisches Amt;;;;;;\nTabelle 7: Befragte Personen 2023;;;;;;\n;;;;;;\n"
    names = "Gemeinde;Geschlecht;Alter;Familienstand;erwerbstätig;Einkommen (EUR);befragt am\n"
    below = ";;;;;;\nInsgesamt;;;;;5701500,00;\nQuelle: Statistisches Amt, eigene Berechnung;;;;;;\n"
    return payload("Tabelle 7.csv", (above + names + rows + below).encode("windows-1252"))


def titled_workbook() -> FilePayload:
    """A sheet with titles, two lines of names of which some are merged, and a note, after one that only explains."""
    book = openpyxl.Workbook()
    book.active.title = "Read me"
    book.active.append(["Please read the notes on the next sheet first."])
    sheet = book.create_sheet("Pupils 2024")
    names = ["School type", "Grade", "Gender", "Language at home", "Score", None]
    for line in (["School survey"], ["Table B.2"], [], names, [None, None, None, None, "reading", "maths"]):
        sheet.append(line)
    sheet.merge_cells("E4:F4")
    for draw, sex, age in people(2):
        kind, language = draw.choice(("Primary", "Secondary")), draw.choice(("Dutch", "French", "Turkish"))
        sheet.append([kind, 1 + age % 12, sex, language, age, draw.randint(0, 100)])
    sheet.append([])
    sheet.append(["Source: Ministry of Education"])
    content = io.BytesIO()
    book.save(content)
    return payload("Table B2 pupils.xlsx", content.getvalue())


def several_rows_a_person() -> FilePayload:
    """Up to three packages of drugs that each insured person was given."""
    rows = [
        f"{700000 + number},{sex},{2023 - age},{draw.choice('ACJNR')},{1 + time % 4},2023-0{time + 1}-11"
        for number, (draw, sex, age) in enumerate(people(3))
        for time in range(1 + number % 3)
    ]
    names = "insured_no,sex,birth_year,drug_group,packs,dispensed_on"
    return payload("prescriptions.csv", "\n".join([names, *rows, ""]).encode())


def five_columns() -> FilePayload:
    """A panel whose rows have numbers of their own, with five columns that are declared."""
    rows = [
        f"{10_000 + number},{sex},{age},{draw.choice(('North', 'South', 'East'))},{draw.choice('01')},"
        f"{draw.choice(('school', 'trade', 'university'))}"
        for number, (draw, sex, age) in enumerate(people(4))
    ]
    names = "case_id,sex,age,region,is_employed,education"
    return payload("panel.csv", "\n".join([names, *rows, ""]).encode())


def ragged_csv() -> FilePayload:
    """Titles, blank lines, a footer of fewer fields than the rows have, “k. A.” for no answer, a column of dates."""
    rows = "".join(
        f"{10_000 + number};{'k. A.' if number % 37 == 0 else sex};{draw.randint(1, 28):02}.03.{2018 - age % 80};"
        f"{draw.choice(('Hafen', 'Altstadt'))};{draw.randint(0, 60)}\n"
        for number, (draw, sex, age) in enumerate(people(5))
    )
    above = "Stadtbücherei Neustadt\nAuswertung Leserkartei – Stand: 30.06.2024\n\n\n"
    names = "Leser-Nr.;Geschlecht;Geburtsdatum;Stadtteil;Ausleihen pro Jahr\n"
    below = "\nSumme;;;;118.204\n* k. A. = keine Angabe\n© Stadtbücherei 2024, vorläufige Zahlen\n"
    return payload("Leserkartei.csv", (above + names + rows + below).encode("windows-1252", "replace"))


def payload(name: str, content: bytes) -> FilePayload:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def each_row_is_one(curator: Actor) -> None:
    """The rows below the table are left out, as is proposed."""
    expect(curator.page.get_by_label("Leave out the last 3 rows")).to_be_checked(timeout=JOB_MS)
    curator.click("button", "Yes, each row is one person")


def read_it_this_way(curator: Actor) -> None:
    curator.click("button", "Read it this way")
    curator.click("button", "Yes, each row is one person")


def read_another_sheet(curator: Actor) -> None:
    curator.click("button", "Read “Pupils 2024”")
    curator.click("button", "Yes, each row is one person")


def each_number_is_one_person(curator: Actor) -> None:
    """A column of cases tells nobody whether a person has several, so that no answer is proposed."""
    expect(curator.page.locator(".first-question .primary")).to_have_count(0)
    curator.click("button", "Yes, each row is one person")


def say_who_is_one_person(curator: Actor) -> None:
    curator.click("button", "No, rows with the same insured_no are one person")


def count_what_a_persons_rows_share(curator: Actor) -> None:
    """One row of each is drawn: only the curator knows in which columns a person's rows agree."""
    curator.tick("sex")
    curator.tick("birth year")
    curator.click("button", "Continue with the recommended method")


@dataclass(frozen=True)
class Journey:
    """A table, what its curator answers to the first question, what they declare, and what is to be published then."""

    table: Callable[[], FilePayload]
    say: Callable[[Actor], None]
    values: dict[str, str]
    published: str
    limits: dict[str, tuple[str, str]] = field(default_factory=dict)
    # More where a file cannot be read at first: there is a page more to read.
    seconds: int = MOST_SECONDS
    # Where columns are proposed, nothing is left to choose before the review.
    choose: Callable[[Actor], None] = lambda _curator: None


JOURNEYS = [
    Journey(messy_csv, each_row_is_one, {"Geschlecht": "f\nm"}, "Geschlecht and Alter"),
    Journey(
        titled_workbook,
        read_another_sheet,
        {"Gender": "f\nm", "Language at home": "Dutch\nFrench\nTurkish"},
        "Gender and Language at home",
    ),
    Journey(
        five_columns,
        each_number_is_one_person,
        {"sex": "f\nm", "region": "North\nSouth\nEast", "education": "school\ntrade\nuniversity"},
        "sex and age",
    ),
    Journey(
        ragged_csv,
        read_it_this_way,
        {"Geschlecht": "f\nm"},
        "Geschlecht and Geburtsdatum",
        {"Geburtsdatum": ("1.1.1930", "31.12.2019")},
        5 * 60 + 30,
    ),
    Journey(
        several_rows_a_person,
        say_who_is_one_person,
        {"sex": "f\nm"},
        "sex and birth year",
        choose=count_what_a_persons_rows_share,
    ),
]


@pytest.mark.parametrize("journey", JOURNEYS, ids=lambda journey: journey.table.__name__)
def test_a_new_table_is_published_in_twelve_actions_and_four_minutes(
    portal: Portal, browser: Browser, journey: Journey, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = time.monotonic()
    page = browser.new_context(base_url=portal.address).new_page()
    visiting.sign_in(page, "curator", portal.passwords["curator"])
    curator = Actor(page)
    name = upload(curator, journey.table())
    journey.say(curator)
    for column, values in journey.values.items():
        curator.type(f"Values: {column}", values)
    for column, ends in journey.limits.items():
        for end, limit in zip(("lower", "upper"), ends, strict=True):
            curator.type(f"{end} limit: {column}", limit)
    curator.type("Your estimate of the number of people", str(PEOPLE))
    curator.click("button", "Save and plan a release")
    journey.choose(curator)
    curator.click("button", "Ask for this")
    page.get_by_text("Request sent.").wait_for()
    curator.read()
    expect(page.get_by_text(re.compile("Expected: (useful|coarse)"))).to_be_visible()
    grant(portal, browser, name)
    publish(curator)
    with capsys.disabled():
        print(
            f"\n{name}: {len(curator.did)} actions, {curator.words} words, {curator.seconds:.0f} s of a person, "
            f"{time.monotonic() - begun:.0f} s of this machine, with the administrator's part"
        )
    assert len(curator.did) <= MOST_ACTIONS, curator.did
    assert curator.seconds <= journey.seconds
    expect(page.get_by_role("heading", level=1)).to_have_text(f"People by {journey.published}")
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
    office.get_by_text(re.compile("Granted .*A 10 % suspicion")).wait_for()
    assert len(administrator.did) == 2
    context.close()


def publish(curator: Actor) -> None:
    """From wherever the curator is when they come back: the list of datasets leads on."""
    curator.page.goto("/datasets/")
    curator.click("link", "Continue with")
    curator.click("button", "and publish")
    curator.page.wait_for_url(re.compile(r"/releases/[0-9a-f-]+/$"), timeout=JOB_MS)
