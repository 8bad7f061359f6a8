"""The upload form's answers, as a page and as JSON, and the page of a dataset that is being read."""

from __future__ import annotations

import pyarrow as pa
import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import services
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset
from dpportal.tables.formats import FORMATS
from tests.dpportal import building
from tests.dpportal.tables.formats.small_files import file_of

UPLOAD = "/datasets/new/"
TABLE = b"colour,age\nred,1\ngreen,2\n"


@pytest.fixture
def desk(client, curator) -> Client:
    client.force_login(curator)
    return client


def send(desk: Client, content: bytes = TABLE, accept: str = "text/html", **fields: str):
    file = SimpleUploadedFile("small.csv", content)
    data = {"file": file, "arrived": "whole", **fields}
    return desk.post(UPLOAD, data, headers={"accept": accept})


def test_a_script_is_told_where_to_go_on(desk):
    answer = send(desk, accept="application/json")
    assert answer.status_code == 201
    assert answer.json() == {"location": reverse("datasets:home", args=[Dataset.objects.get().pk])}


def test_a_script_is_told_the_errors_of_each_field(desk):
    """With 200: any other status stands in red in the console of whoever chose an empty file."""
    answer = send(desk, b"", accept="application/json")
    assert answer.status_code == 200
    assert list(answer.json()["errors"]) == ["file"]


def test_a_page_goes_on_to_the_dataset(desk):
    answer = send(desk)
    assert answer.url == reverse("datasets:home", args=[Dataset.objects.get().pk])


def test_a_file_above_the_limit_is_refused_beside_its_field(desk, settings):
    settings.MAX_UPLOAD_BYTES = 10
    answer = send(desk, accept="application/json")
    assert answer.status_code == 200
    assert "larger than" in answer.json()["errors"]["file"][0]
    assert not Dataset.objects.exists()


def test_the_files_name_is_used_where_none_is_given(desk):
    send(desk)
    assert Dataset.objects.get().name == "small"


@pytest.mark.slow
def test_the_original_is_kept_until_the_reading_is_frozen(desk, django_capture_on_commit_callbacks):
    send(desk)
    dataset = Dataset.objects.get()
    CONVERSIONS.run(dataset.pk)
    assert default_storage.exists(dataset.upload)
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            services.freeze_parse_options(dataset)
    assert not default_storage.exists(dataset.upload)
    dataset.refresh_from_db()
    assert (dataset.upload, dataset.reading_frozen) == ("", True)


@pytest.mark.slow
def test_progress_reloads_the_page_once_reading_has_ended(desk):
    send(desk)
    dataset = Dataset.objects.get()
    address = reverse("datasets:progress", args=[dataset.pk])
    assert "HX-Refresh" not in desk.get(address)
    CONVERSIONS.run(dataset.pk)
    assert desk.get(address)["HX-Refresh"] == "true"


@pytest.mark.slow
def test_the_same_content_again_links_to_the_first(desk):
    for _ in range(2):
        send(desk)
    first, second = Dataset.objects.order_by("created_at")
    CONVERSIONS.run(first.pk)
    CONVERSIONS.run(second.pk)
    page = desk.get(reverse("datasets:home", args=[second.pk])).content.decode()
    assert "was uploaded before" in page
    assert reverse("datasets:home", args=[first.pk]) in page


def test_one_upload_too_many_in_a_day_is_refused_and_leaves_nothing(desk, settings, curator):
    settings.UPLOADS_PER_DAY = 2
    for _ in range(2):
        assert send(desk).status_code == 302
    services.remove(services.Dataset(pk=Dataset.objects.latest("created_at").pk, state="refused"), curator)
    answer = send(desk, accept="application/json")
    assert answer.status_code == 200
    assert "2 tables within a day" in answer.json()["errors"]["file"][0]
    assert Dataset.objects.count() == 1
    building.age_record(hours=25)
    assert send(desk).status_code == 302


def test_looking_at_first_rows_is_recorded(desk, dataset, curator):
    desk.get(reverse("datasets:first_rows", args=[dataset.pk]))
    assert AuditEntry.objects.filter(by=curator, action="viewed first rows").count() == 1


@pytest.mark.parametrize(
    ("language", "kinds"), [("", ["Text", "Whole numbers"]), ("zh-hans", ["文本", "整数"])]
)
def test_first_rows_stand_below_what_they_look_like(desk, curator, language, kinds):
    dataset = building.uploaded(desk, b"town,people\nAa,1\nBb,2\n")
    type(curator).objects.filter(pk=curator.pk).update(language=language)
    page = desk.get(reverse("datasets:first_rows", args=[dataset.pk])).text
    assert [kind for kind in kinds if f'<span class="muted">{kind}</span>' not in page] == []


@pytest.mark.parametrize("datasets", [1, 6])
def test_the_list_takes_as_many_queries_however_long(desk, curator, django_assert_max_num_queries, datasets):
    for number in range(datasets):
        building.stored_dataset(curator, f"Table {number}")
    with django_assert_max_num_queries(20):
        assert desk.get(reverse("datasets:list")).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_a_file_of_every_format_is_offered_uploaded_and_read(desk, known):
    assert 'accept=".csv,' in (page := desk.get(UPLOAD).text)
    ending = known.endings[0]
    assert ending in page and known.titles[0] in page
    table = pa.table({"colour": ["red", "green"], "age": [1, 2]})
    upload = SimpleUploadedFile(f"ages{ending}", file_of(known, table))
    desk.post(UPLOAD, {"file": upload, "arrived": "whole"})
    dataset = Dataset.objects.get()
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert (dataset.state, dataset.facts["format"]) == (Dataset.State.STORED, known.name)
    assert [column["name"] for column in dataset.columns] == ["colour", "age"]
