"""What a file says above its table is proposed to its owner as the description for readers, and saved by them alone."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dpportal.datasets import records
from dpportal.datasets.models import Dataset, PublicDescription
from dpportal.datasets.title_lines import description_of_titles
from dpportal.tables.facts import FileLook
from tests.dpportal import building

OFFICE = "Agence régionale de santé – Service d'aide médicale urgente"
TABLE = "Tableau 3.2 : Appels au 15 suivis d'un envoi d'ambulance, année 2023 (données provisoires)"


@pytest.mark.parametrize(
    ("titles", "proposed"),
    [
        ((OFFICE, TABLE), {"text": TABLE, "publisher": OFFICE, "first": "2023"}),
        (("Wohngeld 2019 bis 2023",), {"text": "Wohngeld 2019 bis 2023", "first": "2019", "last": "2023"}),
        (("Statistisches Landesamt", ""), {"publisher": "Statistisches Landesamt"}),
        (("Table 12345",), {"text": "Table 12345"}),
        ((), {}),
    ],
)
def test_lines_say_what_it_is_about_whose_and_when(titles, proposed):
    assert description_of_titles(titles) == proposed


@pytest.fixture
def titled(client, curator, monkeypatch) -> Dataset:
    client.force_login(curator)
    dataset = building.stored_dataset(curator)
    Dataset.objects.filter(pk=dataset.pk).update(upload="there.csv", options={"title_lines": 2})
    monkeypatch.setattr(records, "look", lambda *_args: FileLook(title_lines=2, titles=(OFFICE, TABLE)))
    return Dataset.objects.get(pk=dataset.pk)


def test_the_form_is_filled_in_until_something_is_saved(client, titled):
    address = reverse("datasets:description", args=[titled.pk])
    page = client.get(address)
    form = page.context["form"]
    assert (form["text"].value(), form["publisher"].value(), form["first"].value()) == (TABLE, OFFICE, "2023")
    assert "Filled in from the lines above the table" in page.text and not form["shown"].value()
    assert not PublicDescription.objects.exists()
    client.post(address, {"text": "Calls", "keywords": "", "licence": ""})
    page = client.get(address)
    assert page.context["form"]["text"].value() == "Calls" and "Filled in from" not in page.text


def test_titles_of_a_file_are_looked_at_in_full(client, curator):
    client.force_login(curator)
    rows = "\n".join(f"{age};f;1" for age in range(20, 60))
    content = f"{OFFICE};;\n{TABLE};;\nage;sex;visits\n{rows}\n".encode()
    dataset = building.uploaded(client, content)
    look = records.look(dataset, records.options_of(dataset))
    assert look.titles == (OFFICE, TABLE) and FileLook.from_json(look.to_json()) == look
    page = client.get(reverse("datasets:description", args=[dataset.pk]))
    assert page.context["form"]["publisher"].value() == OFFICE
