"""Yes or no, in tables that write the two by other words than those that every table is read by."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.urls import reverse

from dpportal.datasets import take_codebook
from dpportal.datasets.forms import AttributeForm
from dpportal.datasets.models import Dataset
from dpportal.datasets.proposals import proposed_kind
from dpportal.datasets.shown_declarations import initial_of
from mechanisms.domain import Boolean, Categorical, DomainError
from tests.dpportal import building

ROWS = b"funded,employed,age\n" + b"".join(
    b"%s,%d,%d\n" % ((b"nie", b"tak")[n % 2], n % 2, 20 + n) for n in range(40)
)
WORDS = Categorical("funded", True, ("nie", "tak"), closed=True)
CODES = ({"truths": ("0", "1"), "kind": "integer", "repeats": True},)
LETTERS = ({"truths": ("N", "Y"), "kind": "text", "repeats": True},)
OTHER_CODES = ({"truths": (), "kind": "integer", "repeats": True},)
TEXTS = ({"truths": (), "kind": "text", "repeats": True},)


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


@pytest.fixture
def surveyed(desk):
    return building.uploaded(desk, ROWS)


def declared(dataset):
    version = dataset.current_domain()
    return {row.column: row.declared() for row in version.attributes.all()} if version else {}


def form(no, yes, looks=()):
    sent = {"kind": "boolean", "missing_cell": "on", "no": no, "yes": yes}
    return AttributeForm(sent, column="funded", looks=looks)


@pytest.mark.parametrize(
    ("no", "yes", "looks", "attribute"),
    [
        ("nie", "tak", TEXTS, WORDS),
        ("nie", "tak", (), WORDS),
        (
            "nie = no",
            "tak = yes",
            TEXTS,
            Categorical("funded", True, ("nie", "tak"), words=("no", "yes"), closed=True),
        ),
        ("2", "1", OTHER_CODES, Categorical("funded", True, ("2", "1"), closed=True)),
        ("nie", "tak", CODES, Boolean("funded", True, ("0", "1"), ("nie", "tak"), closed=True)),
        ("nie", "tak", (*CODES, *CODES), Boolean("funded", True, ("0", "1"), ("nie", "tak"), closed=True)),
        ("nie", "tak", (*CODES, *LETTERS), Boolean("funded", True, (), ("nie", "tak"), closed=True)),
        ("= nie", "= tak", (), Boolean("funded", True, (), ("nie", "tak"), closed=True)),
        ("0 = nie", "1 = tak", TEXTS, Boolean("funded", True, ("0", "1"), ("nie", "tak"), closed=True)),
        ("1", "0", CODES, Categorical("funded", True, ("1", "0"), closed=True)),
        ("", "", CODES, Boolean("funded", True, closed=True)),
        ("", "", (), Boolean("funded", True, closed=True)),
    ],
)
def test_words_that_are_not_read_as_no_and_yes_are_categories(no, yes, looks, attribute):
    asked = form(no, yes, looks)
    assert asked.is_valid(), asked.errors
    assert asked.attribute() == attribute
    shown = initial_of(attribute, "funded")
    if isinstance(attribute, Boolean):
        again = form(shown["no"], shown["yes"], looks)
        assert again.is_valid() and again.attribute() == attribute


def test_blank_fields_are_refused_where_the_first_rows_are_not_read_so():
    asked = form("", "", TEXTS)
    assert not asked.is_valid()
    assert "such as nie and tak" in asked.errors["no"][0]


@pytest.mark.parametrize(("no", "yes"), [("tak", "tak"), ("nie = x", "tak = x"), ("Other", "tak = Missing")])
def test_words_that_cannot_be_two_cells_are_refused_beside_the_field(no, yes):
    assert set(form(no, yes, TEXTS).errors) == {"no"}


def test_a_column_of_other_words_is_declared_as_categories_on_its_page_and_in_the_table(desk, surveyed):
    address = reverse("datasets:column", args=[surveyed.pk, 0])
    answer = desk.post(address, {"kind": "boolean", "missing_cell": "on"})
    assert answer.status_code == 422 and declared(surveyed) == {}
    desk.post(address, {"kind": "boolean", "missing_cell": "on", "no": "nie", "yes": "tak"})
    assert declared(surveyed) == {"funded": WORDS}
    said = {f"c{n}-kind": "ignored" for n in range(3)}
    said |= {"c0-kind": "boolean", "c0-no": "nie = none", "c0-yes": "tak = some"}
    assert desk.post(reverse("datasets:domain", args=[surveyed.pk]), said).status_code == 302
    assert declared(surveyed)["funded"].words == ("none", "some")


def test_the_button_yes_or_no_leaves_out_what_is_not_read_so_and_names_it(desk, surveyed):
    sent = {"way": "yes-or-no", "columns": ["0", "1"]}
    answer = desk.post(reverse("datasets:chosen", args=[surveyed.pk]), sent, follow=True)
    assert "Not declared: “funded”" in answer.content.decode()
    assert declared(surveyed) == {"employed": Boolean("employed", True, ("0", "1"), closed=True)}


@pytest.mark.parametrize(
    ("no", "yes"),
    [("non", "oui"), ("Nein", "Ja"), ("NO", "S\u00cd"), ("no", "s\u00ec"), ("nee", "ja"), ("no", "si")],
)
def test_words_of_five_other_languages_are_read_as_english_ones_are(desk, no, yes):
    rows = "funded,age\n" + "".join(f"{(no, yes)[n % 2]},{20 + n}\n" for n in range(40))
    dataset = building.uploaded(desk, rows.encode())
    desk.post(reverse("datasets:chosen", args=[dataset.pk]), {"way": "yes-or-no", "columns": ["0"]})
    assert declared(dataset) == {"funded": Boolean("funded", True, (no, yes), closed=True)}


def test_a_codebook_of_other_words_declares_categories_and_none_without_words(surveyed, curator):
    with pytest.raises(DomainError, match="such as nie and tak"):
        take_codebook.take(surveyed, b'{"funded": {"kind": "boolean"}}', curator)
    spelled = b'{"funded": {"kind": "boolean", "values": ["nie", "tak"], "closed": true}}'
    take_codebook.take(surveyed, spelled, curator)
    assert declared(surveyed)["funded"].values == ("nie", "tak") and declared(surveyed)["funded"].closed


def test_a_question_whose_answers_are_not_read_so_waits_for_its_words(desk):
    dataset = building.uploaded(desk, ROWS.replace(b"funded", b"is_funded"))
    address = reverse("datasets:domain", args=[dataset.pk])
    row = desk.get(address).context["rows"][0]
    assert [row.form[name].value() for name in ("kind", "no", "yes")] == ["boolean", "", ""]
    assert row.attribute is None
    answer = desk.post(
        reverse("datasets:chosen", args=[dataset.pk]), {"way": "names", "columns": ["0"]}, follow=True
    )
    assert "Not taken: “is_funded”" in answer.content.decode()
    said = {"c0-kind": "boolean", "c0-missing_cell": "on", "c1-kind": "ignored", "c2-kind": "ignored"}
    desk.post(address, said)
    assert declared(dataset) == {}
    desk.post(address, {**said, "c0-no": "nie", "c0-yes": "tak"})
    assert declared(dataset) == {"is_funded": replace(WORDS, name="is_funded")}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Geburtsdatum (TT.MM.JJJJ)", "date"),
        ("Length of stay (days)", "integer"),
        ("Förderung erhalten?", "boolean"),
        ("Readmitted", "boolean"),
        ("Alter (Jahre)", "integer"),
        ("Einkommen [EUR]", "real"),
        ("Date de naissance", "date"),
        ("Staatsangehörigkeit", "categorical"),
        ("Anteil (%)", "real"),
        ("(days)", "integer"),
        ("befragt am", ""),
    ],
)
def test_names_with_units_question_marks_and_words_of_other_languages_suggest_a_kind(name, kind):
    assert proposed_kind(name) == kind


def test_without_a_proposed_column_the_first_question_has_a_choice_of_columns(desk):
    dataset = Dataset.objects.get(pk=building.uploaded(desk, ROWS).pk)
    Dataset.objects.filter(pk=dataset.pk).update(unit_declared=False)
    page = " ".join(desk.get(reverse("datasets:home", args=[dataset.pk])).content.decode().split())
    assert "rows with the same are one person" not in page
    assert '<select name="column" id="person-column">' in page and "<option>age</option>" in page
    desk.post(reverse("datasets:several_rows", args=[dataset.pk]), {"column": "age"})
    assert dataset.current_domain().unit_column == "age"
