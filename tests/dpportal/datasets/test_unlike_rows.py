"""Declarations that most rows would not fit are warned of before anything is spent."""

from __future__ import annotations

import pytest
from django.contrib.messages import get_messages
from django.urls import reverse

from dpportal.datasets import domain_fit, services
from dpportal.datasets.domain_fit_job import FITS
from dpportal.datasets.models import Dataset
from dpportal.datasets.proposals import is_contradicted, proposed_kind
from dpportal.datasets.unlike_rows import is_unlike, unreadable_text
from mechanisms.domain import Boolean, Categorical, Date, Integer, Real
from tests.dpportal import building

NAME = "Q3. Is the staff friendly?"
SURVEY = f"{NAME},vaccinated\n".encode() + b"".join(b"%d,%d\n" % (1 + n % 5, n % 2) for n in range(60))
SEEN = {"repeats": True}
YES_OR_NO = Boolean("x", True, closed=True)
NUMBERS = Integer("x", True, lower=0, upper=9)


@pytest.mark.parametrize(
    ("attribute", "look", "unlike"),
    [
        (YES_OR_NO, {"kind": "integer"}, True),
        (YES_OR_NO, {"kind": "integer", "truths": ("0", "1")}, False),
        (YES_OR_NO, {"kind": "boolean"}, False),
        (NUMBERS, {"kind": "text"}, True),
        (NUMBERS, {"kind": "real"}, False),
        (Date("x", True, lower="2020-01-01", upper="2020-12-31", step="month"), {"kind": "text"}, True),
        (Categorical("x", True, ("a",)), {"kind": "integer"}, False),
        (None, {"kind": "integer"}, False),
    ],
)
def test_what_the_first_rows_look_unlike(attribute, look, unlike):
    assert is_unlike(attribute, {**SEEN, **look}) == unlike
    # What nobody looked at contradicts nothing.
    assert not is_unlike(attribute, look)


def test_what_the_declared_kind_cannot_read_is_told_with_its_share():
    look = {"values": 2000, "unread": {"number": 200, "date": 2000, "truth": 3}}
    assert unreadable_text("real", look) == "Unreadable as a number: 200 of the first 2,000 values (10 %)."
    assert unreadable_text("date", look) == "Unreadable as a date: 2,000 of the first 2,000 values (100 %)."
    told = "Unreadable as yes or no: 3 of the first 2,000 values (less than 1 %)."
    assert unreadable_text("boolean", look) == told
    # Numbers 1 and 2 that are declared as no and yes are categories.
    assert not unreadable_text("boolean", look, Categorical("x", True, ("1", "2")))
    # Any text can be a category, all can be read, or nobody has looked.
    assert not unreadable_text("categorical", look) and not unreadable_text("ignored", look)
    assert not unreadable_text("real", {"values": 9, "unread": {"number": 0}}) and not unreadable_text(
        "real", {}
    )


PAID = "fine;age\n{}".format("".join(f"{100 + n},50{' ca. 3' * (n % 10 == 0)};{n}\n" for n in range(90)))


@pytest.mark.slow
def test_what_is_unreadable_stands_beside_the_column_before_and_after_it_is_declared(client, curator):
    client.force_login(curator)
    dataset = building.uploaded(client, PAID.encode(), delimiter=";")
    assert dataset.options["decimal"] == ","
    told = "Unreadable as a number: 9 of the first 90 values (10 %)."
    table = reverse("datasets:domain", args=[dataset.pk])
    assert told not in client.get(table).text
    row = reverse("datasets:row_cells", args=[dataset.pk, 0])
    assert told in client.post(row, {"c0-kind": "real"}).text  # as soon as the kind is chosen
    assert told in client.post(reverse("datasets:column_cells", args=[dataset.pk, 0]), {"kind": "real"}).text
    services.declare(dataset, "fine", Real("fine", True, lower=0.0, upper=200.0, bins=4))
    assert told in client.get(table).text
    assert told in client.get(reverse("datasets:column", args=[dataset.pk, 0])).text


@pytest.mark.slow
def test_a_row_of_the_table_says_where_it_drops_rows(client, curator):
    client.force_login(curator)
    dataset = building.uploaded(client, b"again;age\nNAI;4\nOXI;5\nna;6\n", delimiter=";")
    row = reverse("datasets:row_cells", args=[dataset.pk, 0])
    said = {"c0-kind": "boolean", "c0-no": "OXI", "c0-yes": "NAI", "c0-missing_cell": "on"}
    page = client.post(row, said).text
    # Other words for no and yes are categories, and what is still to be written is asked for.
    assert "Rows that do not fit are dropped." in page and "Unreadable" not in page
    assert "Unreadable" not in client.post(row, {"c0-kind": "boolean"}).text
    said = {"c0-kind": "categorical", "c0-values": "OXI\nNAI", "c0-missing_cell": "on"}
    assert "dropped" not in client.post(row, said).text


@pytest.fixture
def survey(client, curator) -> Dataset:
    client.force_login(curator)
    return building.uploaded(client, SURVEY)


def sent(client, dataset: Dataset) -> dict[str, object]:
    """What the table sends if nobody changes it."""
    rows = client.get(reverse("datasets:domain", args=[dataset.pk])).context["rows"]
    fields = [field for row in rows for field in row.form]
    return {field.html_name: field.value() for field in fields if field.value() not in (None, False)}


def told(answer) -> str:
    return " ".join(map(str, get_messages(answer.wsgi_request)))


@pytest.mark.slow
def test_one_save_does_not_declare_yes_or_no_what_the_first_rows_are_not(client, survey):
    address = reverse("datasets:domain", args=[survey.pk])
    answer = client.post(address, sent(client, survey))
    assert [a.column for a in survey.current_domain().attributes.all()] == ["vaccinated"]
    assert "do not look like" not in told(answer)
    shown = client.get(reverse("datasets:column", args=[survey.pk, 0]))
    assert shown.context["form"]["kind"].value() == "ignored" and not shown.context["suggested"]
    # Who says so all the same is warned, then and on the page.
    answer = client.post(address, {**sent(client, survey), "c0-kind": "boolean"})
    assert f"The first rows of “{NAME}” do not look like the kind that you declared." in told(answer)
    assert "other numbers than 0 and 1" in client.get(address).text
    answer = client.post(reverse("datasets:chosen", args=[survey.pk]), {"way": "names", "columns": ["0"]})
    assert "look like another kind than their names suggest" in told(answer)


@pytest.mark.slow
def test_who_plans_a_release_has_the_fit_looked_at(client, survey):
    services.declare(survey, NAME, Boolean(NAME, True, closed=True))
    data = {**sent(client, survey), "next": "release", "product": "histogram"}
    client.post(reverse("datasets:domain", args=[survey.pk]), data)
    FITS.run(survey.pk)
    assert domain_fit.mostly_misfits(survey, [NAME], survey.owner) == [NAME]


def test_a_question_mark_suggests_no_yes_or_no_for_other_numbers():
    satisfied, scale = "Q3. Is the staff friendly in your district?", {"kind": "integer", "repeats": True}
    assert is_contradicted(satisfied, scale) and is_contradicted("insured", scale)
    assert not is_contradicted(satisfied, {**scale, "truths": ("0", "1")})
    assert not is_contradicted(satisfied, {"kind": "boolean", "repeats": True}) and not is_contradicted(
        satisfied, {}
    )


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Q3. How satisfied are you with the opening hours?", "integer"),
        ("What is your age?", "integer"),
        ("How many children?", "integer"),
        ("Which of these?", ""),
        ("Wie alt sind Sie?", ""),
        ("Insured?", "boolean"),
        ("Rauchen Sie?", "boolean"),
    ],
)
def test_a_question_that_asks_for_no_yes_or_no_suggests_none(name, kind):
    assert proposed_kind(name) == kind


def test_the_number_of_a_case_is_suggested_to_be_no_number():
    """By its name and its texts: “persons” of a household is one."""
    look = {"kind": "integer", "repeats": False, "identifies": True}
    assert proposed_kind("stay_id") == "" and proposed_kind("age") == "integer"
    assert is_contradicted("age", look)
    assert not is_contradicted("age", {**look, "identifies": False, "repeats": True})


PAY = "pay;age\n" + "".join(f"{'n.d.' if n % 15 == 0 else 1000 + n};{20 + n % 50}\n" for n in range(90))


@pytest.mark.slow
def test_words_for_missing_that_are_saved_with_the_kind_are_no_reason_to_warn(client, curator):
    client.force_login(curator)
    dataset = building.uploaded(client, PAY.encode(), delimiter=";")
    address = reverse("datasets:domain", args=[dataset.pk])
    row = {
        "c0-kind": "integer",
        "c0-lower": "0",
        "c0-upper": "5000",
        "c0-width": "500",
        "c0-missing_cell": "on",
    }
    row |= {"c1-kind": "ignored"}
    assert "n.d." in client.get(address).context["missing_words"]
    without = client.post(address, row, follow=True).text
    assert "do not look like the kind that you declared" in without
    again = client.post(address, {**row, "c0-upper": "4000", "words": ["n.d."]}, follow=True).text
    assert "these words count as missing" in again
    assert "do not look like the kind that you declared" not in again
