"""Where a person may have several rows, no count of rows is called one of people: on pages, in files and in charts."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable

import pandas as pd
import pytest
from django.urls import reverse

from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.releases import results, services
from dpportal.releases.models import Release
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal.releases.products.building import files, finished, page_of
from tests.dpportal.releases.products.queries import building as queries
from tests.dpportal.releases.products.test_verified import downloaded

pytestmark = pytest.mark.slow

# What is said of people themselves, wherever it stands.
OF_PEOPLE = (
    "Costs of several releases about the same people add up",
    "about people in one dataset",
    "Everything released about these people",
    "without any one of the people",
    "the costs of all releases from the same people add up",
    "Costs for the same people add up",
    "other tables of the same people",
    "a person, in all tables of people together",
    "What protects people is the noise",
)

MADE: dict[str, Callable[[Dataset], Release]] = {
    "histogram": lambda rich: finished(rich, "histogram", ["colour", "age"], "9", "laplace-histogram"),
    "histogram of one column": lambda rich: finished(
        rich, "histogram", ["age"], "9", "hierarchical-histogram"
    ),
    "summary": lambda rich: finished(
        rich, "summary", ["colour", "age"], "9", "column-tables", group="colour", twice=[]
    ),
    "queries": lambda rich: queries.finished(
        queries.draft_of(rich, 'ranges("age")', ["age"], "9", "hierarchy-strategy")
    ),
    "rows": lambda rich: finished(
        rich, "microdata", ["colour", "age"], "9", "tree-of-pairs", wishes={}, rows=None
    ),
    "means": lambda rich: finished(
        rich, "means", ["colour", "age"], "9", "bernstein-sums", measured=["age"], deviation=True, steps={}
    ),
}


@pytest.fixture(params=MADE.values(), ids=MADE)
def release(rich, request) -> Release:
    """Published; whoever is of one age is one person, of whom three rows count."""
    dataset_services.declare_unit(rich, neighbours="add-remove", unit_column="age", max_rows=3)
    made: Release = request.param(rich)
    services.publish(made, rich.owner)
    return made


def of_people(text: str) -> list[str]:
    """Where a text speaks of people otherwise than as `OF_PEOPLE` has it, with what stands around."""
    text = " ".join(re.sub(r"<[^>]*>", " ", text).split())
    for said in OF_PEOPLE:
        text = text.replace(said, "")
    return re.findall(r".{0,60}\bpeople\b.{0,30}", text, re.IGNORECASE)


def test_counts_of_rows_are_never_called_people(release, client) -> None:
    page, given = page_of(client, release), files(release)
    names = [name for name in given if name.startswith(("README", "report.html", "table1.html"))]
    assert len(names) >= 2
    texts = {name: given[name].decode() for name in names}
    texts |= {"page": page, "figures": json.dumps(results.stored_page(release)).replace('"people":', "")}
    explored = client.get(reverse("releases:explore", args=[release.pk]), {"pick-asked": "1"})
    if explored.status_code == 200:
        texts["added up"] = explored.text
    assert {name: found for name, text in texts.items() if (found := of_people(text))} == {}
    for name in ("page", "report.html"):
        assert "at most 3 of them count, drawn at random" in " ".join(texts[name].split())
        assert (
            " ".join(texts[name].split()).count("At most 3 rows of each person count, drawn at random") == 1
        )


def test_no_page_of_the_curator_calls_them_people_either(release, client) -> None:
    """The wizard's steps for the same choices once more, the release's own page, and the one with true numbers."""
    client.force_login(release.dataset.owner)
    names = ("product", "columns", "mechanism", "parameters", "amount", "people", "purpose", "title")
    again = {name: getattr(release, name) for name in names}
    draft = Release.objects.create(dataset=release.dataset, created_by=release.created_by, **again)
    steps = [reverse(f"releases:{step}", args=[draft.pk]) for step in ("columns", "method", "review")]
    own = [reverse(f"releases:{page}", args=[release.pk]) for page in ("job", "compare")]
    for address in (*steps, *own):
        response = client.get(address)
        assert (response.status_code, of_people(response.text)) == (200, []), address


def test_a_summary_counts_rows_in_its_unit_and_its_bundle_holds(rich, tmp_path) -> None:
    dataset_services.declare_unit(rich, neighbours="add-remove", unit_column="age", max_rows=3)
    release = MADE["summary"](rich)
    path = downloaded(release, tmp_path)
    table = pd.read_csv(io.BytesIO(files(release)["summary.csv"]))
    assert "rows" in set(table["unit"]) and "people" not in set(table["unit"])
    assert [str(found) for found in verify(Bundle.read(path)) if found.state is State.FAILED] == []


def test_pages_say_that_one_row_of_each_person_counts_drawn_at_random(rich, client) -> None:
    """No count by colour is the number of those who ever had it."""
    dataset_services.declare_unit(rich, neighbours="add-remove", unit_column="age", max_rows=1)
    made = finished(rich, "histogram", ["colour"], "9", "laplace-histogram")
    services.publish(made, rich.owner)
    for text in (page_of(client, made), files(made)["report.html"].decode()):
        words = " ".join(text.split())
        assert "Each person counts by one of their rows, drawn at random: where a person" in words
        assert "more people can have a row in a group than are counted there." in words
        assert "one person, of whom 1 row counts, changes" in words
        assert "are one person's; one of them counts, drawn at random." in words.replace("&#x27;", "'")


def test_the_chinese_readme_counts_rows_as_rows(release) -> None:
    _english, _heading, chinese = files(release)["README.md"].decode().partition("# 中文说明")
    assert chinese and re.findall(r".{0,20}(?:[0-9] ?人|几个?人|人数少|没有值的人数).{0,20}", chinese) == []


def test_a_choice_among_values_trails_by_rows(rich) -> None:
    dataset_services.declare_unit(rich, neighbours="add-remove", unit_column="age", max_rows=3)
    made = finished(rich, "selection", ["colour"], "9", "permute-and-flip", question="most-common-value")
    readme = files(made)["README.md"].decode()
    assert "by a few rows" in readme and "落后最佳者几行的候选项" in readme


def test_the_chinese_page_and_report_count_rows_as_rows(release, client) -> None:
    page = client.get(release.get_absolute_url(), headers={"Accept-Language": "zh-hans"}).text
    for text in (page, files(release)["report.zh-hans.html"].decode()):
        words = " ".join(re.sub(r"<[^>]*>", " ", text).split())
        assert "行" in words and re.findall(r".{0,30}[0-9] ?(?:个?人|名).{0,10}", words) == []
