"""A browser sends a table to the bucket itself: bounded, finished once, given up when nobody goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from datetime import timedelta

import pytest
from django.test import Client

from dpportal.datasets import direct_upload
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Dataset, DirectUpload
from dpportal.operations import sweeping
from dpportal.platform.objects import multipart
from tests.dpportal import building

MEGABYTE = 2**20
# Three parts, the last one shorter.
CSV = b"colour,age\n" + b"red,20\n" * (2 * MEGABYTE // 7)


@pytest.fixture
def desk(store, settings, client, curator, monkeypatch) -> Client:
    """The curator, whose browser may send to the bucket in parts of 1 MB."""
    settings.DIRECT_UPLOADS = store.address
    monkeypatch.setattr(multipart, "PART_BYTES", MEGABYTE)
    client.force_login(curator)
    return client


def announce(desk: Client, size: int, status: int = 201, address: str = "/datasets/new/direct/") -> dict:
    fields = {**building.FORM, "arrived": "whole", "file_name": "table.csv", "size": size}
    answer = desk.post(address, fields)
    assert answer.status_code == status, answer.content
    return answer.json()


def send(desk: Client, begun: dict, content: bytes) -> None:
    for number, start in enumerate(range(0, len(content), begun["bytes"]), 1):
        address = desk.post(begun["address"], {"number": number}).json()["address"]
        assert put(address, content[start : start + begun["bytes"]]) == 200


def put(address: str, content: bytes) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, data=content, method="PUT")) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:  # the server ends the connection of whoever sends more than it signed for
        return 0


@pytest.mark.slow
def test_a_table_that_arrives_in_parts_is_read_like_any_other(desk, store):
    begun = announce(desk, len(CSV))
    send(desk, begun, CSV)
    answer = desk.post(begun["finish"])
    assert answer.status_code == 201
    dataset = Dataset.objects.get()
    assert answer.json()["location"] == f"/datasets/{dataset.pk}/"
    assert (dataset.name, dataset.megabytes) == ("table", 3)
    [name] = store.names()
    assert "table" not in name and (store.objects / name).read_bytes() == CSV
    CONVERSIONS.run(dataset.pk)
    dataset.refresh_from_db()
    assert dataset.rows == CSV.count(b"\n") - 1
    assert desk.post(begun["finish"]).status_code == 404 and not DirectUpload.objects.exists()


@pytest.mark.slow
def test_an_origin_to_which_no_address_leads_is_refused_at_the_start(store):
    def start(origin: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, **store.environment, "DPPORTAL_DIRECT_UPLOADS": origin}
        return subprocess.run(
            [sys.executable, "manage.py", "check"], env=given, capture_output=True, text=True
        )

    assert start(store.address).returncode == 0
    refused = start("https://elsewhere.example")
    assert refused.returncode and f"DPPORTAL_DIRECT_UPLOADS must be {store.address}" in refused.stderr


@pytest.mark.slow
def test_an_answer_that_was_lost_can_be_asked_for_again(desk):
    begun = announce(desk, 11)
    send(desk, begun, CSV[:11])
    upload = DirectUpload.objects.get()
    multipart.finish(upload.stored, upload.key, multipart.FileParts(upload.size))
    assert desk.post(begun["finish"]).status_code == 201


@pytest.mark.slow
def test_a_signed_address_takes_what_was_announced_and_nothing_else(desk):
    begun = announce(desk, 11)
    address = desk.post(begun["address"], {"number": 1}).json()["address"]
    for other in (b"x" * 12, b"x" * 10):
        assert put(address, other) != 200
    assert put(address.replace("partNumber=1", "partNumber=2"), b"x" * 11) == 403
    assert desk.post(begun["address"], {"number": 2}).status_code == 400
    assert put(address, b"x" * 11) == 200


@pytest.mark.slow
def test_a_signed_address_ends(desk, monkeypatch):
    monkeypatch.setattr(multipart, "LINK_SECONDS", -1)
    begun = announce(desk, 11)
    assert put(desk.post(begun["address"], {"number": 1}).json()["address"], b"x" * 11) in (400, 403)


@pytest.mark.slow
def test_a_file_that_did_not_arrive_whole_is_deleted(desk, store):
    begun = announce(desk, 2 * MEGABYTE)
    address = desk.post(begun["address"], {"number": 1}).json()["address"]
    assert put(address, b"x" * MEGABYTE) == 200
    answer = desk.post(begun["finish"])
    assert answer.status_code == 409 and "did not arrive whole" in answer.content.decode()
    assert not store.names() and not Dataset.objects.exists() and not DirectUpload.objects.exists()


@pytest.mark.slow
def test_what_was_announced_counts_against_every_limit(desk, settings):
    settings.MAX_UPLOAD_BYTES, settings.CURATOR_BYTES = 10 * MEGABYTE, 12 * MEGABYTE
    assert "larger than" in announce(desk, 11 * MEGABYTE, 400)["errors"]["file"][0]
    assert "is empty" in announce(desk, 0, 400)["errors"]["file"][0]
    announce(desk, 10 * MEGABYTE)
    assert "would take more than" in announce(desk, 3 * MEGABYTE, 400)["errors"]["file"][0]
    settings.WAITING_UPLOADS = 1
    assert "wait to be read" in announce(desk, 1, 400)["errors"]["file"][0]
    settings.WAITING_UPLOADS, settings.UPLOADS_PER_DAY = 9, 1
    assert "within a day" in announce(desk, 1, 400)["errors"]["file"][0]


@pytest.mark.slow
def test_what_nobody_goes_on_with_is_swept(desk, store, monkeypatch):
    sweeping.sweep_files()
    begun = announce(desk, 11)
    send(desk, begun, CSV[:11])
    forgotten = multipart.begin("records/none/forgotten.original")
    sweeping.sweep_files()
    assert DirectUpload.objects.exists()
    monkeypatch.setattr(direct_upload, "UNFINISHED_FOR", timedelta(seconds=-5))
    sweeping.sweep_files()
    assert not DirectUpload.objects.exists()
    with pytest.raises(FileNotFoundError):
        multipart._parts("records/none/forgotten.original", forgotten)
    assert desk.post(begun["finish"]).status_code == 404


@pytest.mark.slow
def test_nobody_goes_on_with_another_s_upload(desk, other_curator):
    begun = announce(desk, 11)
    desk.force_login(other_curator)
    for address in ("address", "finish", "give_up"):
        assert desk.post(begun[address], {"number": 1}).status_code == 404


def test_only_where_it_is_configured(desk, settings):
    page = desk.get("/datasets/new/")
    assert "data-upload-direct" in page.content.decode()
    assert f"connect-src 'self' {settings.DIRECT_UPLOADS}" in page["Content-Security-Policy"]
    settings.DIRECT_UPLOADS = ""
    page = desk.get("/datasets/new/")
    assert "data-upload-direct" not in page.content.decode()
    assert "connect-src" not in page["Content-Security-Policy"]
    assert desk.post("/datasets/new/direct/").status_code == 404
