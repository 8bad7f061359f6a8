"""A file without a line of names loses no person, and publishes nobody's values as names: its curator is asked."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from dpportal.tables.meaning.lost_row import names_look_like_a_row
from tests.dpportal import building

QUESTION = "Does the first line hold the names of the columns?"
PERSONS = "".join(
    f"{('Bonn', 'Köln')[n % 2]};{'mf'[n % 2]};{20 + n};2024-04-{1 + n % 28:02}\n" for n in range(40)
)


@pytest.fixture
def desk(client: Client, curator) -> Client:
    client.force_login(curator)
    return client


def converted(desk: Client, content: bytes) -> Dataset:
    dataset = building.sent(desk, content)
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    return dataset


def home(desk: Client, dataset: Dataset) -> str:
    return desk.get(reverse("datasets:home", args=[dataset.pk])).text


def test_the_first_person_of_a_file_without_names_is_a_row(desk):
    dataset = converted(desk, PERSONS.encode())
    page = home(desk, dataset)
    assert QUESTION in page and "Bonn" in page and "Is each row one person?" not in page
    desk.post(reverse("datasets:header", args=[dataset.pk]), {"header": "data"})
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert [column["name"] for column in dataset.columns] == [f"column_{n}" for n in range(1, 5)]
    assert dataset.rows == 40
    page = home(desk, dataset)
    assert QUESTION not in page and "Is each row one person?" in page


def test_names_that_are_names_stay_and_are_asked_about_once(desk):
    dataset = converted(desk, PERSONS.encode())
    desk.post(reverse("datasets:header", args=[dataset.pk]), {"header": "names"})
    dataset.refresh_from_db()
    assert (dataset.rows, dataset.columns[0]["name"]) == (39, "Bonn")
    page = home(desk, dataset)
    assert QUESTION not in page and "Is each row one person?" in page


def test_a_file_with_names_is_not_asked_about(desk):
    dataset = converted(desk, b"town;sex;age;day\n" + PERSONS.encode())
    assert QUESTION not in home(desk, dataset)


@pytest.mark.parametrize(
    ("names", "kinds", "columns", "found"),
    [
        (["43", "m"], ["integer", "text"], [["20", "30"], ["m", "f"]], True),
        (["1,5"], ["real"], [["2,5", "3,5"]], True),
        (["2024-04-11", "x"], ["date", "text"], [["2024-04-12"], ["y"]], True),
        (["m", "Bonn"], ["text", "text"], [["f", "m"], ["Köln"]], True),
        (["sex", "town"], ["text", "text"], [["f", "m"], ["Köln"]], False),
        (["age", "m"], ["integer", "text"], [["20", "30"], ["m", "f"]], False),
        (
            ["town", "2019", "2020", "2021"],
            ["text", *3 * ["integer"]],
            [["Köln"], ["1"], ["2"], ["3"]],
            False,
        ),
        (["2019", "2020"], ["integer", "integer"], [["1"], ["2"]], False),
        (["43", "1994"], ["integer", "integer"], [["20"], ["1990"]], True),
        ([], [], [], False),
    ],
)
def test_what_looks_like_a_row(names, kinds, columns, found):
    assert names_look_like_a_row(names, kinds, columns) is found
