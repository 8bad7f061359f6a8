"""A guessed encoding is said, with the names as it reads them, before the first question is answered."""

from __future__ import annotations

import pytest
from django.urls import reverse

from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from tests.dpportal import building

CHINESE = "编号,性别,年龄\n" + "".join(f"{n},{'男女'[n % 2]},{n}\n" for n in range(40))
pytestmark = pytest.mark.slow


def read(desk, content: bytes) -> Dataset:
    dataset = building.sent(desk, content)
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    return dataset


def home(desk, dataset: Dataset) -> str:
    return " ".join(desk.get(reverse("datasets:home", args=[dataset.pk])).text.split())


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def test_a_guess_is_said_and_another_reads_the_file_again(desk):
    dataset = read(desk, CHINESE.encode("gb18030"))
    assert [column["name"] for column in dataset.columns] == ["编号", "性别", "年龄"]
    page = home(desk, dataset)
    assert "we guessed it: <strong>GB 18030 (Chinese)</strong>" in page
    assert "Are these names right: <strong>编号, 性别, 年龄</strong>?" in page
    assert page.index("encoding-guess") < page.index('id="one-row"')
    assert "Windows-1252 (Western Europe): ±àºÅ" in page
    assert "we guessed it" in desk.get(reverse("datasets:reading", args=[dataset.pk])).text
    desk.post(reverse("datasets:encoding", args=[dataset.pk]), {"encoding": "windows-1252"})
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    # Said by a person, it is no guess any more.
    assert dataset.columns[0]["name"] == "±àºÅ" and "we guessed it" not in home(desk, dataset)


@pytest.mark.parametrize("encoding", ["", "utf-7"])
def test_what_is_no_encoding_changes_nothing(desk, encoding):
    dataset = read(desk, CHINESE.encode("gb18030"))
    desk.post(reverse("datasets:encoding", args=[dataset.pk]), {"encoding": encoding})
    dataset.refresh_from_db()
    assert dataset.has_rows and dataset.options["encoding"] == "gb18030"


def test_what_the_file_says_is_no_guess(desk):
    for content in (CHINESE.encode(), CHINESE.encode("utf-16"), b"a,b\n1,2\n"):
        assert "we guessed it" not in home(desk, read(desk, content))
    page = home(desk, read(desk, "Größe,n\n1,2\n".encode("windows-1252")))
    assert "Windows-1252 (Western Europe)" in page and "<strong>Größe</strong>?" in page
