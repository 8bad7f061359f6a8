"""Files are received by the views that take them, after the check of who asks, and nowhere else."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client, RequestFactory

from dpportal.datasets.models import Dataset
from dpportal.serving.files import refusal, takes_files


class Untouched(io.BytesIO):
    """A body that fails the test if anybody reads it."""

    def read(self, *_: object) -> bytes:
        raise AssertionError("the body was read")


def table(size: int = 10) -> SimpleUploadedFile:
    return SimpleUploadedFile("table.csv", b"a\n" + b"1\n" * size)


def test_a_stranger_s_body_is_not_read(db):
    response = Client().post(
        "/datasets/new/",
        headers={"Content-Length": "1000"},
        content_type="multipart/form-data; boundary=B",
        **{"wsgi.input": Untouched()},
    )
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/account/sign-in/")


def test_somebody_who_is_no_curator_finds_nothing_and_nothing_is_read(analyst):
    client = Client()
    client.force_login(analyst)
    response = client.post(
        "/datasets/new/",
        headers={"Content-Length": "1000"},
        content_type="multipart/form-data; boundary=B",
        **{"wsgi.input": Untouched()},
    )
    assert response.status_code == 404


def test_a_forged_upload_is_refused(curator):
    client = Client(enforce_csrf_checks=True)
    client.force_login(curator)
    response = client.post("/datasets/new/", {"file": table(), "arrived": "whole"})
    assert response.status_code == 403
    assert not Dataset.objects.exists()


def test_a_view_that_takes_no_files_gets_none(curator, client):
    """The sign-in form with a file in it: the file is skipped, the rest is read."""
    response = client.post("/account/sign-in/", {"username": "x", "password": "y", "file": table(10**5)})
    assert response.status_code == 200
    assert response.wsgi_request.FILES == {}
    assert response.wsgi_request.POST["username"] == "x"


def test_all_files_of_a_request_have_one_limit(curator):
    @takes_files(1000)
    def view(request):
        assert request.FILES or refusal(request)
        return HttpResponse(refusal(request) or "taken")

    def answer(*sizes: int) -> str:
        files = {f"file{i}": SimpleUploadedFile("f", b"x" * size) for i, size in enumerate(sizes)}
        request = RequestFactory().post("/", files)
        request.user = curator
        request._dont_enforce_csrf_checks = True
        return view(request).content.decode()

    assert answer(900) == answer(500, 500) == "taken"
    assert answer(600, 600).startswith("The file is larger than 1000")
    # What was refused is not left on the disk, which strangers could fill so.
    assert not list(Path(settings.FILE_UPLOAD_TEMP_DIR).glob("*.upload"))


@pytest.mark.parametrize("handler", settings.FILE_UPLOAD_HANDLERS)
def test_files_are_left_out_unless_a_view_says_otherwise(handler):
    assert handler == "dpportal.serving.files.NoFiles"
