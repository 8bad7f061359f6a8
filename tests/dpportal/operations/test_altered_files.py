"""`manage.py verify` names every stored file that was altered, lost, or put in another one's place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from dpportal.catalogue import thumbnails
from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import Dataset
from dpportal.jobs.memoised import StoredQuestion
from dpportal.operations import verification
from dpportal.publications import publishing
from dpportal.releases import results
from dpportal.releases.models import Release
from dpportal.streams import execution, services as stream_services
from dpportal.streams.execution import Update
from dpportal.streams.models import Period
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.queries import building as queries
from tests.dpportal.streams import building as streams

pytestmark = pytest.mark.slow

TABLE = "colour,age\n" + "".join(f"{('red', 'green', 'blue')[i % 3]},{i // 3}\n" for i in range(300))
COLUMNS = [
    Categorical("colour", values=("red", "green", "blue")),
    Integer("age", lower=0, upper=99, width=10),
]


def _with_randomised_answers(own: Dataset) -> Release:
    """Of as many people as there are rows, which has to be public."""
    dataset_services.declare_unit(own, neighbours="replace-one", unit_column="", max_rows=1)
    return finished(own, "response", ["colour"], "2", "randomised-response")


MADE: dict[str, Callable[[Dataset], Release]] = {
    "a histogram": lambda own: finished(own, "histogram", ["colour", "age"], "9", "laplace-histogram"),
    "totals and means": lambda own: finished(
        own, "means", ["colour", "age"], "9", "bernstein-sums", measured=["age"], deviation=True, steps={}
    ),
    "a summary": lambda own: finished(
        own, "summary", ["colour", "age"], "9", "column-tables", group="colour", twice=[]
    ),
    "a choice": lambda own: finished(
        own, "selection", ["colour"], "9", "permute-and-flip", question="most-common-value", picks=2
    ),
    "randomised answers": _with_randomised_answers,
    "answers": lambda own: queries.finished(
        queries.draft_of(own, 'ranges("age")', ["age"], "9", "p-identity")
    ),
    "rows of many columns": lambda own: finished(
        own, "microdata", ["colour", "age"], "9", "tree-of-pairs", wishes={}, rows=None
    ),
}


@pytest.fixture(autouse=True)
def files(settings, tmp_path) -> Path:
    folder = tmp_path / "files"
    own = {**settings.STORAGES["default"], "OPTIONS": {"location": folder}}
    settings.STORAGES = {**settings.STORAGES, "default": own}
    return folder


@pytest.fixture
def own(client: Client, curator, administrator) -> Dataset:
    """A dataset that came as a file, with a budget for every product."""
    client.force_login(curator)
    dataset = building.uploaded(client, TABLE.encode())
    dataset_services.declare_all(dataset, COLUMNS)
    return building.granted(dataset, administrator, "100")


def found() -> str:
    return "\n".join(verification.problems([]))


def each(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def require_named(folder: Path) -> None:
    """Each file of a portal that agrees is altered, lost, and takes another one's place, in turn."""
    for original in folder.rglob("*.original"):
        original.unlink()  # as once its confirmation is committed
    assert found() == ""
    paths = each(folder)
    for path, other in zip(paths, [*paths[1:], paths[0]], strict=True):
        name, before = str(path.relative_to(folder)), path.read_bytes()
        for after in (before[:-1] + bytes([before[-1] ^ 1]), before[:-1], other.read_bytes()):
            path.write_bytes(after)
            assert after == before or name in found(), name
        path.unlink()
        # A comparison and looks at a table are made again: what is lost of these is no fault.
        assert name in found() or "/comparison-" in name or "/look-" in name, name
        path.write_bytes(before)
    assert found() == ""


@pytest.mark.sampled
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_each_file_of_a_release(own, files, make, curator):
    release = make(own)
    publishing.publish(release, curator, lambda: None)
    require_named(files)


def test_each_file_of_a_running_count(own, files, curator):
    stream = streams.open_stream(own)
    stream_services.publish(stream, curator)
    for index in (1, 2):
        execution.publish(stream.pk, [Update(index, (100,), Period.Source.TYPED)])
    assert streams.with_files(stream).files
    require_named(files)


def test_files_of_two_releases_that_are_swapped(own, files):
    first, second = (MADE[name](own) for name in ("a histogram", "a choice"))
    paths = [files / results.page_name(release) for release in (first, second)]
    paths[1].rename(files / "aside")
    paths[0].rename(paths[1])
    (files / "aside").rename(paths[0])
    text = found()
    assert str(first.pk) in text and str(second.pk) in text


def test_rows_of_two_files_that_are_swapped(own, files):
    """Each with its digest, so that file and row agree: the history knows which file was whose."""
    first, second = (MADE["a histogram"](own).artifacts.get(name="release.json") for _ in range(2))
    assert found() == ""
    for row, other in ((first, second), (second, first)):
        type(row).objects.filter(pk=row.pk).update(stored=other.stored, sha256=other.sha256, size=other.size)
    assert found().count("release.json of files of release") == 2


@pytest.fixture
def picture(own, curator) -> StoredQuestion:
    """That of a release that is public."""
    release = MADE["a histogram"](own)
    publishing.publish(release, curator, lambda: None)
    thumbnails.thumbnails_of([release])
    thumbnails.THUMBNAILS.run(thumbnails.key_of(thumbnails._question(release, 0)))
    assert found() == ""
    return StoredQuestion.objects.get(answered_by="Thumbnail")


@pytest.mark.parametrize("part", ["marks", "about"])
def test_a_picture_that_shows_or_says_something_else(picture, part):
    answer: Any = picture.answer
    answer[part] = "In truth 7834 women" if part == "about" else [{**answer["marks"][0], "path": "M0 0"}]
    StoredQuestion.objects.filter(pk=picture.pk).update(answer=answer)
    assert f"picture of {picture.question['release']}" in found()


@pytest.mark.parametrize(
    "changed", [{"question": {"kind": "thumbnail", "version": 5}}, {"answered_by": "Working"}]
)
def test_a_picture_under_the_key_of_another_question_is_shown_to_nobody(picture, changed):
    """It would not be compared with what is published."""
    forged = {**(picture.answer or {}), "about": "In truth 7834 women"}
    StoredQuestion.objects.filter(pk=picture.pk).update(answer=forged, **changed)
    if "question" in changed:
        assert found() == f"The stored question {picture.pk} is not the one that its key stands for."
    page = Client().get("/published/").text
    assert "7834" not in page and 'class="thumbnail kind"' in page
    assert StoredQuestion.objects.get().question == picture.question
    thumbnails.THUMBNAILS.run(picture.pk)
    assert "People by age" in Client().get("/published/").text and found() == ""
