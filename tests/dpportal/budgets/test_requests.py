"""A curator asks for a budget with one button; an administrator grants or declines; each hears of it."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.core import mail
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from dpportal.accounts.models import Role, User
from dpportal.budgets import ledger, requests
from dpportal.budgets.margins import margin_shown
from dpportal.budgets.models import BudgetRequest
from dpportal.datasets import services, sharing
from dpportal.datasets.models import Right
from dpportal.releases import services as release_services
from tests.dpportal import building
from tests.dpportal.budgets.test_granting import change, place
from tests.dpportal.building import deliver_mail, stored_dataset

WHY = "Ages by district, ± 20 people"


@pytest.fixture
def desk(curator) -> Client:
    client = Client()
    client.force_login(curator)
    return client


@pytest.fixture
def office(administrator) -> Client:
    client = Client()
    client.force_login(administrator)
    return client


@pytest.fixture
def without(curator):
    return stored_dataset(curator, "Without a budget")


def bell(client: Client) -> int:
    return int(re.search(r'aria-label="(\d+) pieces? of news"', client.get("/guide/").text)[1])


def ask(desk: Client, dataset, reason: str = WHY):
    return desk.post(reverse("budgets:ask", args=[dataset.pk]), {"reason": reason})


@pytest.mark.slow
def test_a_question_rings_in_the_office_and_its_answer_at_the_desk(desk, office, without):
    assert "Ask for a budget" in desk.get(reverse("datasets:home", args=[without.pk])).text
    ask(desk, without)
    assert (bell(office), bell(desk)) == (1, 0)
    page = office.get(reverse("office")).text
    assert WHY in page and "Without a budget" in page
    assert f'href="{place(without)}"' in page
    given = change(without, reason="A first wave", answers=str(without.budget_requests.get().pk))
    shown = office.get(place(without)).text
    assert f'name="answers" value="{given["answers"]}"' in shown and WHY in shown
    assert office.post(place(without), given).status_code == 302
    assert (bell(office), bell(desk)) == (0, 1)
    assert "A first wave" in desk.get(reverse("releases:finished")).text
    assert bell(desk) == 0
    assert without.budgets.get().total > 0


def test_no_is_said_with_a_reason_and_may_be_asked_again(desk, office, without):
    ask(desk, without)
    asked = without.budget_requests.get()
    address = reverse("decline", args=[asked.pk])
    office.post(address, {"reason": ""})
    assert without.budget_requests.get().state == "waiting"
    office.post(address, {"reason": "Ask the ministry first"})
    home = desk.get(reverse("datasets:home", args=[without.pk])).text
    assert "Ask the ministry first" in home and "Ask for a budget" in home
    office.post(address, {"reason": "Changed my mind"})
    assert without.budget_requests.get().answer == "Ask the ministry first"
    ask(desk, without)
    assert [r.state for r in without.budget_requests.all()] == ["waiting", "declined"]


def test_one_question_waits_at_a_time(desk, without):
    ask(desk, without)
    ask(desk, without, "Once more")
    assert without.budget_requests.get().reason == WHY
    with pytest.raises(IntegrityError), transaction.atomic():
        BudgetRequest.objects.create(dataset=without, by=without.owner, reason="Beside it")


@pytest.mark.slow
def test_one_question_is_granted_once_unless_one_goes_on_knowingly(desk, office, without):
    ask(desk, without)
    opened = change(without, amount="4", answers=str(without.budget_requests.get().pk))
    assert office.post(place(without), opened).status_code == 302
    ask(desk, without, "Now for districts")
    for _again in range(2):
        late = office.post(place(without), opened)
        assert (
            "answered meanwhile" in late.text
            and f'name="answers" value="{opened["answers"]}"' not in late.text
        )
    assert without.budgets.get().total == 4
    assert office.post(place(without), {**opened, "answers": ""}).status_code == 302
    assert without.budgets.get().total == 8
    assert [r.state for r in without.budget_requests.all()] == ["waiting", "granted"]


def test_the_ledger_refuses_to_grant_a_question_twice(administrator, curator, without):
    requests.ask(without, WHY, curator)
    asked = without.budget_requests.get()
    terms = ledger.GrantTerms(answers=asked)
    words = {"definition": "pure", "reason": "Yes", "by": administrator, "terms": terms}
    ledger.grant(without, Decimal(5), **words)
    with pytest.raises(ledger.BudgetRefusedError, match="answered meanwhile"):
        ledger.grant(without, Decimal(5), **words)
    assert without.budgets.get().total == 5 and without.ledger.count() == 1


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [{}, {"answers": "4711"}, {"answers": "no number"}])
def test_only_a_grant_for_its_own_dataset_answers(desk, office, dataset, without, wrong):
    ask(desk, without)
    named = {"answers": str(without.budget_requests.get().pk)}
    assert office.post(place(dataset), change(dataset, **{**named, **wrong})).status_code == 422
    assert without.budget_requests.get().state == "waiting" and dataset.ledger.count() == 1


@pytest.mark.parametrize("reason", ["", " ", "x" * 501, "a\0b"])
def test_a_question_needs_a_reason(desk, without, reason):
    ask(desk, without, reason)
    assert not without.budget_requests.exists()


def test_five_hundred_characters_on_several_lines_are_taken(desk, without):
    """A browser lets so many be typed, and sends two for each end of a line."""
    ask(desk, without, ("x" * 49 + "\r\n") * 10)
    assert without.budget_requests.get().reason == "\n".join(["x" * 49] * 10)


def test_only_administrators_have_an_office(desk, analyst, without):
    ask(desk, without)
    asked = without.budget_requests.get()
    stranger = Client()
    other = Client()
    other.force_login(analyst)
    for client in (desk, other):
        assert client.get(reverse("office")).status_code == 404
        assert client.post(reverse("decline", args=[asked.pk]), {"reason": "no"}).status_code == 404
    assert stranger.get(reverse("office")).status_code == 302
    assert without.budget_requests.get().state == "waiting"


def test_both_hear_by_mail_where_there_is_a_server(settings, curator, administrator, without):
    settings.EMAIL_URL = "smtp://mail.example.org"
    for person in (curator, administrator):
        person.email = f"{person.username}@example.org"
        person.save()
    requests.ask(without, WHY, curator)
    requests.decline(without.budget_requests.get(), "Not now", administrator)
    deliver_mail()
    told = [(message.to, WHY in message.body, "Not now" in message.body) for message in mail.outbox]
    assert told == [([administrator.email], True, False), ([curator.email], False, True)]


def test_the_answer_says_how_much_was_granted(desk, office, without):
    ask(desk, without)
    given = change(
        without, amount="0.25", reason="Less at first", answers=str(without.budget_requests.get().pk)
    )
    office.post(place(without), given)
    assert "ε = 0.25 granted. Less at first" in desk.get(reverse("releases:finished")).text


def test_a_co_owners_question_is_theirs(desk, office, without, curator):
    partner = User.objects.create_user("partner", password="x", role=Role.CURATOR)
    sharing.share(without, "partner", Right.OWN, curator)
    requests.ask(without, WHY, partner)
    shown = " ".join(office.get(reverse("office")).text.split())
    assert re.search(r"partner.{0,30}\(owner of the dataset: curator\)", shown)
    assert "partner asked for a budget" in desk.get(reverse("datasets:home", args=[without.pk])).text


@pytest.mark.slow
def test_nobody_waits_for_a_budget_of_records_that_are_deleted(desk, office, without, curator):
    ask(desk, without)
    services.erase(without, curator)
    assert WHY not in office.get(reverse("office")).text and bell(office) == 0
    ask(desk, without, "Once more")
    home = desk.get(reverse("datasets:home", args=[without.pk])).text
    assert "nothing to spend a budget on" in home and "no administrator has answered" not in home


def test_whoever_owns_a_dataset_no_more_hears_no_answer(settings, curator, administrator, without):
    settings.EMAIL_URL = "smtp://mail.example.org"
    partner = User.objects.create_user("partner", "partner@example.org", "x", role=Role.CURATOR)
    User.objects.filter(pk=curator.pk).update(email="owner@example.org")
    given = sharing.share(without, "partner", Right.OWN, curator)
    requests.ask(without, WHY, partner)
    sharing.take_back(given, curator)
    requests.decline(without.budget_requests.get(), "Not now", administrator)
    deliver_mail()
    assert [message.to for message in mail.outbox] == [["owner@example.org"]]


def test_the_office_names_states_as_the_curators_list_does(office, dataset, without):
    page = office.get(reverse("office")).text
    assert page.count("Ready") == 1 and page.count("Needs a budget") == 1
    assert "Needs a declaration" not in page


@pytest.mark.parametrize(
    ("margin", "chinese"),
    [
        ("Margin of a count (95 %): ± 10 people", "人"),
        ("Margin of an estimated share (95 %): ± 2.5 % of all people", "2.5 "),
        ("± 10 at the end", "± 10"),
        ("The margin depends on the data.", "误差"),
    ],
)
def test_a_margin_is_shown_in_the_readers_language(margin, chinese):
    assert margin_shown(margin) == margin
    with override("zh-hans"):
        said = margin_shown(margin)
    assert chinese in said and not re.search("[a-z]{2}", said)


@pytest.mark.slow
def test_what_was_asked_in_chinese_is_kept_in_english_and_read_in_both(desk, office, curator, without):
    draft = building.complete_draft(without)
    User.objects.filter(pk=curator.pk).update(language="zh-hans")
    desk.post(reverse("releases:ask", args=[draft.pk]), {"reason": WHY})
    kept = without.budget_requests.get().margin
    assert re.fullmatch(r"Margin of a count \(95 %\): ± [\d.]+ people", kept)
    assert kept in office.get(reverse("office")).text
    User.objects.filter(role=Role.ADMINISTRATOR).update(language="zh-hans")
    for page in (reverse("office"), place(without)):
        shown = office.get(page).text
        assert "Margin of a count" not in shown and "± " in shown


@pytest.mark.slow
@pytest.mark.parametrize("end", ["discarded", "spent"])
def test_the_bell_goes_on_with_a_draft_only_while_it_is_one(desk, dataset, administrator, end):
    draft = building.complete_draft(dataset, "0.1")
    review = reverse("releases:review", args=[draft.pk])
    desk.post(reverse("releases:ask", args=[draft.pk]), {"reason": WHY})
    ledger.grant(
        dataset,
        Decimal(1),
        definition="pure",
        reason="Ages",
        by=administrator,
        terms=ledger.GrantTerms(answers=BudgetRequest.objects.get()),
    )
    for page in ("datasets:list", "releases:finished"):
        assert review in desk.get(reverse(page)).text
    if end == "discarded":
        release_services.discard(draft)
    else:
        building.confirm(draft)
    assert review not in desk.get(reverse("releases:finished")).text
    BudgetRequest.objects.update(seen=False)
    assert review not in desk.get(reverse("datasets:list")).text
