"""What readers see in place of a column's name: declared with the column, taken from codebooks, kept in them."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from dpportal.datasets import codebooks, services, take_codebook
from dpportal.datasets.declared import declared_of
from mechanisms.domain import Categorical, Integer

YEARS = Integer("age", lower=0, upper=99, width=10, title="Age in years")


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def titles(dataset) -> dict[str, str]:
    return {name: attribute.title for name, attribute in declared_of(dataset).items()}


def test_a_name_without_a_title_is_read_with_blanks():
    assert Integer("birth_year").shown_name == "birth year"
    assert Integer("_").shown_name == "_"
    assert YEARS.shown_name == "Age in years"


def row(place: int, **fields: str) -> dict[str, str]:
    return {f"c{place}-{name}": text for name, text in fields.items()}


def test_it_is_typed_in_the_table_and_taken_back(desk, dataset):
    address = reverse("datasets:domain", args=[dataset.pk])
    colour = row(0, kind="categorical", values="red\ngreen\nblue", closed="open", title="Favourite colour")
    age = row(1, kind="integer", lower="0", upper="99", width="10", binning="width", closed="open")
    desk.post(address, {**colour, **age})
    assert titles(dataset) == {"colour": "Favourite colour", "age": ""}
    assert 'value="Favourite colour"' in desk.get(address).content.decode()
    desk.post(address, {**colour, "c0-title": "", **age})
    assert titles(dataset) == {"colour": "", "age": ""}


def test_the_page_of_the_column_has_it_and_refuses_signs_that_nobody_sees(desk, dataset):
    services.declare(dataset, "age", YEARS)
    address = reverse("datasets:column", args=[dataset.pk, 1])
    assert 'value="Age in years"' in desk.get(address).content.decode()
    fields = {"kind": "integer", "lower": "0", "upper": "99", "binning": "per_value", "closed": "open"}
    answer = desk.post(address, {**fields, "title": "Age\u202e"})
    assert answer.status_code == 422
    assert titles(dataset)["age"] == "Age in years"


def test_columns_that_are_given_the_same_values_keep_their_own(desk, dataset):
    services.declare(dataset, "age", YEARS)
    address = f"{reverse('datasets:several', args=[dataset.pk])}?columns=0&columns=1"
    assert 'name="title"' not in desk.get(address).content.decode()
    desk.post(address, {"kind": "categorical", "values": "a\nb", "closed": "open"})
    assert titles(dataset) == {"colour": "", "age": "Age in years"}


@pytest.mark.parametrize("way", ["names", "yes-or-no"])
def test_suggestions_keep_it(desk, dataset, way):
    services.declare(dataset, "age", YEARS)
    desk.post(reverse("datasets:chosen", args=[dataset.pk]), {"way": way, "columns": 1})
    assert declared_of(dataset)["age"] != YEARS
    assert titles(dataset)["age"] == "Age in years"


def test_codebooks_write_and_read_it(desk, dataset):
    services.declare(dataset, "age", YEARS)
    written = take_codebook.written(dataset)
    for text in (codebooks.as_csv(written), codebooks.as_json(written)):
        assert (
            dict(
                zip(
                    ("colour", "age"),
                    codebooks.read(text.encode(), ["colour", "age"]).attributes,
                    strict=True,
                )
            )["age"]
            == YEARS
        )
    assert "title" not in codebooks.as_csv(codebooks.Codebook((Integer("age"),)))


def test_a_codebook_that_says_none_keeps_it(curator, dataset):
    services.declare(dataset, "age", YEARS)
    take_codebook.take(dataset, b'{"age": 5}', curator)
    assert declared_of(dataset)["age"] == Integer("age", lower=0, upper=4, title="Age in years")


def test_foreign_codebooks_say_it():
    field = {"name": "age", "title": "Age\n in years", "type": "integer"}
    field["constraints"] = {"minimum": 0, "maximum": 99}
    table_schema = json.dumps({"fields": [field]}).encode()
    ddi = b"""<codeBook><dataDscr><var name="sex"><labl>Sex of the person</labl>
      <catgry><catValu>1</catValu><labl>male</labl></catgry></var></dataDscr></codeBook>"""
    assert codebooks.read(table_schema, ["age"]).attributes[0].title == "Age in years"
    (sex,) = codebooks.read(ddi, ["sex"]).attributes
    assert sex == Categorical("sex", values=("1",), words=("male",), title="Sex of the person")


def test_one_that_is_too_long_is_refused(dataset, curator):
    book = json.dumps({"age": {"kind": "integer", "lower": 0, "upper": 9, "title": "x" * 121}}).encode()
    with pytest.raises(codebooks.CodebookError, match="at most 120 characters"):
        take_codebook.take(dataset, book, curator)


def test_a_coarser_column_has_a_name_of_its_own(desk, dataset):
    services.declare(dataset, "age", YEARS)
    fields = {"name": "age group", "edges": "0, 50, 99"}
    desk.post(reverse("datasets:coarser", args=[dataset.pk, 1]), fields)
    assert titles(dataset) == {"colour": "", "age": "Age in years", "age group": ""}
