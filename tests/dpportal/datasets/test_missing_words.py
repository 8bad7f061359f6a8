"""Words that usually mean “no value” are found in the first rows; the owner says whether they mean it."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import records, services
from dpportal.datasets.models import Dataset
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.proposals import proposed_columns
from mechanisms.domain import Categorical, Domain
from tests.dpportal.building import uploaded

HOMES = Categorical("home", True, values=("flat", "house"))
ROWS = [
    "flat,1",
    "house,2",
    "n/a,-",
    "Unknown,n/a",
    "-,3",
    "不详,4",
    ",5",
    "flat,6",
    "house,7",
    "keine Angabe,8",
]
MESSY = "home,rooms\n" + "\n".join(ROWS) + "\n"
QUESTION = "Do these words mean"


@pytest.fixture
def desk(client, curator) -> Client:
    client.force_login(curator)
    return client


def homes(dataset: Dataset) -> list[int]:
    """Rows of flats, of houses, of others, of none."""
    return records.count(dataset, dataset.current_domain(), Domain((HOMES,)), b"key").tolist()


def confirm(desk: Client, dataset: Dataset, words: list[str]) -> str:
    address = reverse("datasets:missing_words", args=[dataset.pk])
    return desk.post(address, {"words": words}, follow=True).content.decode()


def test_spellings_of_usual_words_are_found_and_declared_ones_are_not():
    texts = ["N/A", "n/a", "NULL", "none of it", "不详", "5", "  unknown ", None, ""]
    column = proposed_columns(["home"], [texts], ReadOptions(missing=("NULL",)).settled())[0]
    assert column.missing_words == ("N/A", "n/a", "unknown", "不详")
    assert not proposed_columns(["home"], [["Banana", "nation"]], ReadOptions().settled())[0].missing_words


@pytest.mark.slow
def test_a_messy_file_is_counted_right_once_the_owner_confirms(desk):
    dataset = uploaded(desk, MESSY.encode())
    services.declare(dataset, "home", HOMES)
    assert homes(dataset) == [2, 2, 5, 1]
    for page in ("datasets:domain", "datasets:reading"):
        shown = desk.get(reverse(page, args=[dataset.pk]))
        assert shown.context["missing_words"] == ["-", "keine Angabe", "n/a", "Unknown", "不详"]
        assert QUESTION in shown.content.decode()
    said = confirm(desk, dataset, ["-", "keine Angabe", "n/a", "Unknown", "不详", "flat"])
    assert "Saved: these words count as missing" in said
    assert QUESTION not in said
    dataset.refresh_from_db()
    assert dataset.options["missing"] == ["-", "keine Angabe", "n/a", "Unknown", "不详"]
    assert homes(dataset) == [2, 2, 0, 6]
    assert [column.get("kind") for column in dataset.column_looks] == ["text", "integer"]
    assert AuditEntry.objects.filter(action="changed how the file is read").count() == 1


@pytest.mark.slow
def test_saving_the_declaration_applies_what_is_ticked_and_nothing_else(desk):
    """A value of the same declaration is none of these; what was left unticked stays so when the page is seen again."""
    dataset = uploaded(desk, MESSY.encode())
    address = reverse("datasets:domain", args=[dataset.pk])
    shown = desk.get(address)
    assert shown.context["ticked_words"] == shown.context["missing_words"]
    boxes = re.findall(r'<input[^>]*name="words"[^>]*>', shown.text)
    assert all('form="declare"' in box and "checked" in box for box in boxes) and len(boxes) == 5
    row = {
        "c1-kind": "ignored",
        "c0-kind": "categorical",
        "c0-values": "flat\nhouse\nUnknown",
        "c0-missing_cell": "on",
    }
    answer = desk.post(address, {**row, "words": ["-", "n/a", "Unknown"]}, follow=True)
    assert "Saved: these words count as missing" in answer.text
    dataset.refresh_from_db()
    assert dataset.options["missing"] == ["-", "n/a"]
    assert answer.context["missing_words"] == ["keine Angabe", "不详"]
    assert answer.context["ticked_words"] == []


@pytest.mark.slow
def test_words_that_are_values_are_not_asked_about_and_unticked_ones_stay_values(desk):
    dataset = uploaded(desk, b"pets\nnone\ncat\nunknown\n")
    services.declare(dataset, "pets", Categorical("pets", True, values=("none", "cat")))
    assert desk.get(reverse("datasets:domain", args=[dataset.pk])).context["missing_words"] == ["unknown"]
    assert "Choose words first." in confirm(desk, dataset, ["none"])
    dataset.refresh_from_db()
    assert dataset.options["missing"] == []


@pytest.mark.slow
def test_nobody_else_is_asked_nor_answers_and_a_table_without_such_words_asks_nothing(desk, other_curator):
    dataset = uploaded(desk, MESSY.encode())
    plain = uploaded(desk, b"home\nflat\nhouse\n")
    assert QUESTION not in desk.get(reverse("datasets:domain", args=[plain.pk])).content.decode()
    desk.force_login(other_curator)
    address = reverse("datasets:missing_words", args=[dataset.pk])
    assert desk.post(address, {"words": ["-"]}).status_code == 404
    dataset.refresh_from_db()
    assert dataset.options["missing"] == []
