"""From the column's page to the kept values, as a curator walks it; and what everybody reads of the cost."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from html import unescape

import pytest
from django.urls import reverse
from django.utils.translation import gettext, override

from dpportal.budgets import ledger
from dpportal.budgets.models import Budget
from dpportal.jobs.claims import JobState
from dpportal.releases import services as releases
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from dpportal.value_choices import execution, keeping, lone_people, services as value_choices
from dpportal.value_choices.execution import CHOICES
from dpportal.value_choices.models import ValueChoice
from mechanisms.partition_selection import choosing
from tests.dpportal import building
from tests.dpportal.releases.products.building import files

ALL_PUBLIC = "The curator states that it is public knowledge and was not taken from the data."
COST = "?amount=0.5&delta=0.0000001"


@pytest.fixture
def coloured(dataset, administrator):
    """The small table, whose colours a hundred people have each, with a δ to spend."""
    terms = ledger.GrantTerms(delta=Decimal("0.000001"))
    ledger.grant(dataset, Decimal(1), definition="pure", reason="Colours", by=administrator, terms=terms)
    return dataset


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def page(dataset) -> str:
    return reverse("values:choose", args=[dataset.pk, 0])


def reviewed(answer) -> str:
    return re.search(r'name="reviewed" value="(\w+)"', answer.content.decode())[1]


def words(answer) -> str:
    return in_words(answer.content.decode())


def in_words(text: str) -> str:
    """What a page says, without its marks."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_a_curator_chooses_values_from_the_page_to_the_declaration(coloured, desk):
    column = desk.get(reverse("datasets:column", args=[coloured.pk, 0]))
    assert page(coloured) in column.content.decode()
    shown = desk.get(page(coloured) + COST)
    assert "This choice costs ε = 0.50, δ = 10⁻⁷" in words(shown) and "50 % 30" in words(shown)
    unticked = desk.post(page(coloured) + COST, {"reviewed": reviewed(shown)})
    assert unticked.status_code == 422 and not ValueChoice.objects.exists()
    confirmed = desk.post(page(coloured) + COST, {"reviewed": reviewed(shown), "agreed": "on"})
    choice = ValueChoice.objects.get()
    assert confirmed.status_code == 302 and confirmed["Location"] == choice.get_absolute_url()
    assert "Waiting for a worker" in words(desk.get(choice.get_absolute_url()))
    CHOICES.run(choice.pk)
    kept = words(desk.get(choice.get_absolute_url()))
    assert "3 values were kept. They are declared" in kept and "blue green red" in kept
    assert "δ 9 × 10⁻⁷ of 10⁻⁶ left" in kept
    for listing in (reverse("releases:finished"), reverse("datasets:home", args=[coloured.pk])):
        assert choice.get_absolute_url() in desk.get(listing).content.decode()
    ledger_page = desk.get(reverse("budgets:ledger", args=[coloured.pk]))
    assert choice.get_absolute_url() in ledger_page.content.decode() and "ε 0.50, δ 10⁻⁷" in words(
        ledger_page
    )


def test_a_budget_without_delta_says_what_to_ask_for(dataset, desk):
    shown = words(desk.get(page(dataset) + COST))
    assert "its promise of ε may never fail" in shown and "grant δ = 10⁻⁷" in shown
    assert "Choose the values" not in shown


@pytest.mark.parametrize(
    ("cost", "told"),
    [
        ("?amount=0&delta=0.1", "δ must be at most 0.001"),
        ("?amount=x&delta=1e-9", "Write one plain number"),
        ("?amount=0.000001&delta=0.0000001", "Choose a larger ε"),
    ],
)
def test_costs_that_are_none_are_told_so(coloured, desk, cost, told):
    shown = desk.get(page(coloured) + cost)
    assert shown.status_code == 422 and told in words(shown)


@pytest.mark.parametrize(
    ("delta", "one_in", "warned"),
    [("0.0001", "10,000", "This δ is large."), ("0.00001", "100,000", ""), ("1e-9", "1,000,000,000", "")],
)
def test_what_delta_means_for_a_value_of_one_person_is_said(coloured, desk, delta, one_in, warned):
    shown = words(desk.get(f"{page(coloured)}?amount=0.5&delta={delta}"))
    assert f"By chance, one in {one_in} values that only one person has is published" in shown
    assert (warned in shown) if warned else ("This δ is" not in shown)
    plan = value_choices.plan_of(coloured, Decimal("0.5"), Decimal(delta))
    assert plan.probabilities[1] == int(Fraction(delta) * 2**128)
    several = choosing.plan(replace(plan.loss, unit=replace(plan.loss.unit, max_rows=4)))
    assert "one in " + f"{4 * int(one_in.replace(',', '')):,} values" in lone_people.keeping_odds(several)


def test_a_delta_above_one_over_the_people_is_warned_of(coloured, desk):
    building.complete_draft(coloured, "0.1")
    people = 2_000_000
    Release.objects.update(people=people)
    shown = words(desk.get(f"{page(coloured)}?amount=0.5&delta=0.000001"))
    assert "If each of about 2,000,000 people had a value of their own, about 2 of these values" in shown


def test_what_counts_as_a_value_is_read_before_anything_is_chosen(coloured, desk):
    """Nothing of it depends on the table, so that no answer tells whether it has such texts."""
    before = words(desk.get(page(coloured)))
    for rule in keeping.rules():
        assert rule in before
    assert "200 letters" in before and "control characters" in before and "fields of spaces alone" in before


def test_where_nothing_is_kept_the_page_says_what_to_do(coloured, desk):
    """At this cost a value would need more people than the table has."""
    small = "?amount=0.05&delta=0.0000001"
    desk.post(
        page(coloured) + small, {"reviewed": reviewed(desk.get(page(coloured) + small)), "agreed": "on"}
    )
    choice = ValueChoice.objects.get()
    CHOICES.run(choice.pk)
    shown = words(desk.get(choice.get_absolute_url()))
    fewest = choice.plan.people_for(Fraction(1, 2))
    assert f"At this cost a value needs {fewest} people to be kept half of the time. Choose again" in shown
    assert keeping.rules()[0] in shown and "0 values were kept" in shown


@pytest.mark.parametrize("field", ["undeclared", "failure"])
def test_what_a_worker_stored_is_said_in_the_readers_language(coloured, desk, field):
    choice = building.requested_values(coloured)
    ended = {"state": JobState.FAILED if field == "failure" else JobState.DONE, "kept": []}
    ValueChoice.objects.filter(pk=choice.pk).update(**ended, **{field: execution.LOST})
    with override("zh-hans"):
        said = gettext(execution.LOST)
        shown = desk.get(choice.get_absolute_url(), headers={"accept-language": "zh-hans"})
    assert said != execution.LOST
    assert said in unescape(shown.text) and execution.LOST not in unescape(shown.text)


def test_other_curators_and_columns_that_are_not_there_are_none(coloured, client, other_curator, desk):
    assert desk.get(reverse("values:choose", args=[coloured.pk, 9])).status_code == 404
    client.force_login(other_curator)
    assert client.get(page(coloured)).status_code == 404


def test_an_administrator_grants_a_delta_and_takes_it_back(dataset, client, administrator):
    client.force_login(administrator)
    address = reverse("grant", args=[dataset.pk])
    protects = re.search(r'name="protects" value="(\w+)"', client.get(address).content.decode())[1]
    given = {"amount": "0.1", "delta": "0.000000001", "reason": "Towns", "protects": protects}
    assert client.post(address, {**given, "delta": "0.5"}).status_code == 422
    assert client.post(address, {**given, "delta": "1e-9"}).status_code == 302
    budget = Budget.of(dataset)
    assert (budget.total, budget.delta_total) == (Decimal("1.1"), Decimal("0.000000001"))
    taken = {"budget": budget.pk, "amount": "0.1", "delta": "0.000000001", "reason": "Not needed"}
    assert client.post(reverse("reduction", args=[dataset.pk]), taken).status_code == 302
    assert Budget.of(dataset).delta_total == 0


def published_after_a_choice(coloured, desk) -> Release:
    """A release of colours whose values were chosen privately."""
    shown = desk.get(page(coloured) + COST)
    desk.post(page(coloured) + COST, {"reviewed": reviewed(shown), "agreed": "on"})
    CHOICES.run(ValueChoice.objects.get().pk)
    release = building.requested_release(coloured)
    RELEASES.run(release.pk)
    release.refresh_from_db()
    releases.publish(release, coloured.owner)
    return release


def test_what_is_spent_of_delta_is_said_to_everybody(coloured, client, desk):
    release = published_after_a_choice(coloured, desk)
    client.logout()
    told = words(client.get(release.get_absolute_url()))
    assert "ε = 0.60, δ = 10⁻⁷" in told
    assert "Values of “colour” were chosen privately, at ε = 0.50, δ = 10⁻⁷ besides." in told


@pytest.mark.slow
def test_nobody_reads_that_values_chosen_privately_are_public_knowledge(coloured, desk):
    release = published_after_a_choice(coloured, desk)
    given = files(release)
    for told in (desk.get(release.get_absolute_url()).text, given["report.html"].decode()):
        said = in_words(told)
        assert "The values of “colour” were chosen privately (see the privacy statement)." in said
        assert "The curator states that the rest of the declaration is public knowledge" in said
        assert ALL_PUBLIC not in said
    with override("zh-hans"):
        assert gettext(ALL_PUBLIC) not in in_words(given["report.zh-hans.html"].decode())
    home = words(desk.get(reverse("datasets:home", args=[coloured.pk])))
    assert re.search(r"colour Categories \d+ chosen privately", home), home
