"""Uploads in pieces: begun, broken off, gone on with, and put together to the same bytes."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from django.core.files.storage import default_storage
from django.core.wsgi import get_wsgi_application
from django.test import RequestFactory
from django.urls import resolve, reverse
from django.utils import timezone

from dpportal.api.dpclient import Portal, PortalError, uploading
from dpportal.api.models import ApiToken, Scope
from dpportal.datasets import keys, record_files, resumable_upload, services, upload_pieces
from dpportal.datasets.begun_uploads import BegunUpload, UploadPiece
from dpportal.datasets.import_job import CONVERSIONS
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs import claims
from dpportal.operations import sweeping
from dpportal.serving.files import upload_limit
from dpportal.serving.request_body import BodyRefusedError
from tests.dpportal.api.calling import BASE, Program

CONTENT = b"age,sex\n" + b"".join(b"%d,%s\n" % (i % 90, b"mf"[i % 2 : i % 2 + 1]) for i in range(200))
DIGEST = hashlib.sha256(CONTENT).hexdigest()
HALF = len(CONTENT) // 2


def encoded(**pairs: str) -> str:
    return ",".join(f"{name} {b64encode(value.encode()).decode()}" for name, value in pairs.items())


class Sender:
    """Speaks tus to the API."""

    def __init__(self, program) -> None:
        self.program = program

    def send(self, method: str, path: str, content: bytes = b"", **headers: str):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        named |= {"Authorization": f"Bearer {self.program.text}", "Tus-Resumable": "1.0.0"}
        kind = named.pop("Content-Type", "application/offset+octet-stream")
        return self.program.client.generic(method, path, content, kind, headers=named, CONTENT_TYPE=kind)

    def begun(self, size: int = len(CONTENT), key: str = "", **more: str):
        said = {"filename": "people.csv", "name": "People", **more}
        named = {"Upload_Length": str(size), "Upload_Metadata": encoded(**said)}
        named |= {"Idempotency_Key": key} if key else {}
        return self.send("POST", f"{BASE}/uploads", **named)

    def piece(self, place: str, offset: int, content: bytes):
        return self.send("PATCH", place, content, Upload_Offset=str(offset))

    def offset(self, place: str) -> int:
        return int(self.send("HEAD", place)["Upload-Offset"])


@pytest.fixture
def sender(program) -> Sender:
    return Sender(program)


def stored(dataset: Dataset) -> bytes:
    with record_files.opened(dataset.upload) as path, path.open("rb") as file:
        return file.read()


@pytest.mark.slow
def test_an_upload_goes_on_where_it_broke_off_and_is_the_same_bytes(sender, curator):
    answer = sender.begun(sha256=DIGEST)
    place = answer["Location"]
    assert (answer.status_code, sender.offset(place)) == (201, 0)
    assert sender.piece(place, 0, CONTENT[:HALF]).status_code == 204
    assert not Dataset.objects.exists() and sender.offset(place) == HALF
    wrong = sender.piece(place, 0, CONTENT[:HALF])
    assert wrong.status_code == 409 and f"at byte {HALF}" in wrong.json()["detail"]
    pieces = list(UploadPiece.objects.values_list("stored", flat=True))
    with record_files.opened(pieces[0]) as path:
        assert path.path.read_bytes().find(CONTENT[:20]) == -1  # sealed as it lies there
    last = sender.piece(place, HALF, CONTENT[HALF:])
    assert (last.status_code, last["Upload-Offset"]) == (204, str(len(CONTENT)))
    dataset = Dataset.objects.get()
    assert (dataset.name, dataset.owner, dataset.file_name) == ("People", curator, "people.csv")
    assert Conversion.objects.get().dataset == dataset and default_storage.exists(pieces[0])
    CONVERSIONS.run(dataset.pk)  # the request did not wait for the pieces to be put together
    assert stored(dataset) == CONTENT
    assert not default_storage.exists(pieces[0]) and not UploadPiece.objects.exists()
    shown = sender.program.said("get", f"/uploads/{dataset.pk}")
    assert shown["dataset"]["id"] == str(dataset.pk)
    assert sender.piece(place, len(CONTENT), b"").status_code == 204  # once more, and nothing happens
    BegunUpload.objects.all().delete()
    assert sender.program.said("get", f"/uploads/{dataset.pk}")["dataset"]["state"] == "stored"
    assert Dataset.objects.count() == 1


@pytest.mark.parametrize("length", ["1_0", "-1", "+5", "ten", "", "٣"])
def test_a_length_that_is_no_number_is_refused(sender, length):
    said = {"Upload_Metadata": encoded(filename="people.csv"), "Upload_Length": length}
    answer = sender.send("POST", f"{BASE}/uploads", **said)
    assert answer.status_code == 400 and "Upload-Length" in answer.json()["detail"]


def test_a_length_beyond_all_limits_and_a_name_said_twice_are_named(sender):
    answer = sender.begun(10**30)
    assert answer.status_code == 422 and "larger than 8.0" in answer.json()["detail"]
    twice = f"{encoded(filename='people.csv')},{encoded(filename='other.csv', name='People')}"
    answer = sender.send("POST", f"{BASE}/uploads", Upload_Length="10", Upload_Metadata=twice)
    assert answer.status_code == 400 and "twice" in answer.json()["detail"]


def test_a_byte_beyond_the_end_is_refused(sender):
    place = sender.begun()["Location"]
    assert sender.piece(place, 0, CONTENT).status_code == 204
    assert sender.piece(place, len(CONTENT), b"x").status_code == 413
    assert sender.piece(place, len(CONTENT), b"").status_code == 204


def test_the_door_knows_where_files_come_and_who_may_not_send_them(sender, curator):
    begun = urlsplit(sender.begun()["Location"]).path
    views = {path: resolve(path).func for path in (f"{BASE}/datasets", begun)}
    assert views[begun].takes_files() == resumable_upload.MOST_PIECE_BYTES
    assert views[f"{BASE}/datasets"].takes_files() == upload_limit()
    reader, writer = Program(curator, Scope.READ), sender.program
    for path, view in views.items():
        head = RequestFactory().post(path, headers={"Authorization": f"Bearer {writer.text}"})
        assert view.person_of(head) == curator
        head = RequestFactory().post(path, headers={"Authorization": f"Bearer {reader.text}"})
        with pytest.raises(BodyRefusedError, match="it is for “Read”") as refused:
            view.person_of(head)
        assert refused.value.status == 403
    # Not that the piece is too large, as for a stranger.
    ApiToken.objects.update(expires_at=timezone.now())
    head = RequestFactory().patch(begun, headers={"Authorization": f"Bearer {writer.text}"})
    with pytest.raises(BodyRefusedError, match="This token expired on") as refused:
        views[begun].person_of(head)
    assert (refused.value.status, refused.value.headers) == (401, {"WWW-Authenticate": "Bearer"})


def test_other_bytes_than_were_announced_are_refused(sender, client, curator):
    """The pages of the dataset say so, though there is no file to show."""
    client.force_login(curator)
    place = sender.begun(sha256="0" * 64)["Location"]
    assert sender.piece(place, 0, CONTENT).status_code == 204
    dataset = Dataset.objects.get()
    for _again in range(2):
        CONVERSIONS.run(dataset.pk)
        shown = sender.program.said("get", f"/datasets/{dataset.pk}")
        assert shown["state"] == "refused" and "another SHA-256" in shown["reading"]["failure"]
        assert not default_storage.exists(dataset.upload)
        for page in ("home", "reading"):
            seen = client.get(reverse(f"datasets:{page}", args=[dataset.pk]))
            assert seen.status_code == 200 and "upload the table again" in seen.text
        services.read_again(Dataset.objects.get(), dataset.owner)


@pytest.mark.slow
def test_a_worker_that_dies_while_it_puts_pieces_together_leaves_them_to_the_next(sender, monkeypatch):
    place = sender.begun(sha256=DIGEST)["Location"]
    sender.piece(place, 0, CONTENT[:HALF])
    sender.piece(place, HALF, CONTENT[HALF:])
    dataset = Dataset.objects.get()

    def killed(*_args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dead, pytest.raises(KeyboardInterrupt):
        dead.setattr(upload_pieces.sealing, "keep", killed)
        CONVERSIONS.run(dataset.pk)
    BegunUpload.objects.update(created_at=timezone.now() - timedelta(hours=25))
    resumable_upload.sweep()  # leaves what a worker has still to put together
    Conversion.objects.update(lease_until=claims.db_ago(1), hinted_at=claims.db_ago(3600))
    claims.sweep(Conversion.objects.all(), lambda _pk: None, CONVERSIONS.give_up)
    assert CONVERSIONS.run(dataset.pk)
    assert stored(Dataset.objects.get()) == CONTENT and not UploadPiece.objects.exists()


def test_more_than_was_announced_is_not_kept(sender, monkeypatch):
    place = sender.begun(size=10)["Location"]
    assert sender.piece(place, 0, CONTENT).status_code == 413
    assert sender.offset(place) == 0 and not UploadPiece.objects.exists()
    monkeypatch.setattr(resumable_upload, "MOST_PIECE_BYTES", 5)
    assert sender.piece(place, 0, b"123456").status_code == 413
    assert sender.piece(place, 0, b"12345").status_code == 204


@pytest.mark.parametrize(
    ("size", "more", "name"),
    [
        (0, {}, "file"),
        (2**50, {}, "file"),
        (9, {"encoding": "morse"}, "encoding"),
        (9, {"sha256": "x"}, "sha256"),
        (9, {"sha256": "\0" * 64}, "sha256"),
        (9, {"filename": ""}, "filename"),
    ],
)
def test_an_announcement_that_is_refused_says_why(sender, size, more, name):
    answer = sender.begun(size, **more)
    assert answer.status_code == 422 and answer.json()["errors"][name]
    assert not BegunUpload.objects.exists()


def test_requests_that_are_no_tus_are_refused(sender):
    place = sender.begun()["Location"]
    assert sender.send("PATCH", place, b"x").status_code == 400
    assert sender.send("PATCH", place, b"x", Upload_Offset="0", Content_Type="text/csv").status_code == 415
    broken = sender.send("POST", f"{BASE}/uploads", Upload_Length="9", Upload_Metadata="name §")
    assert broken.status_code == 400


@pytest.mark.parametrize("said", [{}, {"Tus-Resumable": "2.0.0"}, {"Tus-Resumable": ""}])
def test_requests_of_another_version_of_tus_or_of_none_do_nothing(sender, said):
    place, client = sender.begun()["Location"], sender.program.client
    headers = {"Authorization": f"Bearer {sender.program.text}", **said}
    piece = {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream", **headers}
    announced = {"Upload-Length": "9", "Upload-Metadata": encoded(filename="other.csv"), **headers}
    answers = [
        client.head(place, headers=headers),
        client.generic("PATCH", place, b"x", "application/offset+octet-stream", headers=piece),
        client.generic("POST", f"{BASE}/uploads", headers=announced),
        client.delete(place, headers=headers),
    ]
    assert [(answer.status_code, answer["Tus-Version"]) for answer in answers] == [(412, "1.0.0")] * 4
    assert BegunUpload.objects.get().offset == 0


def test_what_is_announced_counts_as_if_it_were_there(sender, settings):
    settings.CURATOR_BYTES = 2 * 2**20
    assert sender.begun(2**20).status_code == 201
    refused = sender.begun(2**20 + 1)
    assert refused.status_code == 409 and "Delete the records" in refused.json()["detail"]
    settings.CURATOR_BYTES, settings.WAITING_UPLOADS = 2**40, 1
    assert "wait to be read" in sender.begun().json()["detail"]


def test_a_full_disk_is_said_before_anything_comes(sender, monkeypatch):
    monkeypatch.setattr("dpportal.platform.storage.is_full", lambda _more=0: True)
    answer = sender.begun()
    assert answer.status_code == 409 and "nearly full" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("size", "more"),
    [
        (len(CONTENT) + 1, {}),
        (len(CONTENT), {"sha256": hashlib.sha256(b"other").hexdigest()}),
        (len(CONTENT), {"filename": "other.csv"}),
        (len(CONTENT), {"delimiter": ";"}),
    ],
)
def test_another_announcement_with_a_known_key_is_refused(sender, size, more):
    key = str(uuid4())
    first = sender.begun(key=key, sha256=DIGEST)
    assert sender.begun(key=key, sha256=DIGEST)["Location"] == first["Location"]
    refused = sender.begun(size, key=key, **{"sha256": DIGEST, **more})
    assert refused.status_code == 422 and "new key" in refused.json()["detail"]
    assert BegunUpload.objects.count() == 1


def test_an_upload_is_given_up_by_its_sender_or_after_a_day(sender, stranger):
    places = [sender.begun()["Location"] for _ in range(2)]
    for place in places:
        sender.piece(place, 0, CONTENT[:HALF])
    pieces = list(UploadPiece.objects.values_list("stored", flat=True))
    assert Sender(stranger).send("DELETE", places[0]).status_code == 404
    assert sender.send("DELETE", places[0]).status_code == 204
    assert sender.send("HEAD", places[0]).status_code == 404
    BegunUpload.objects.update(created_at=timezone.now() - timedelta(hours=25))
    resumable_upload.sweep()
    assert not BegunUpload.objects.exists()
    assert not any(default_storage.exists(name) for name in pieces)


def test_an_upload_that_is_whole_is_no_longer_given_up(sender):
    place = sender.begun()["Location"]
    sender.piece(place, 0, CONTENT)
    refused = sender.send("DELETE", place)
    assert refused.status_code == 409 and "has become a dataset" in refused.json()["detail"]
    assert sender.send("HEAD", place).status_code == 200


@pytest.mark.slow
def test_the_sweep_leaves_pieces_and_their_key_while_the_upload_goes_on(
    sender, monkeypatch, settings, tmp_path
):
    settings.SCRATCH_DIR = tmp_path
    monkeypatch.setattr(sweeping, "ORPHANS_AFTER", timedelta(seconds=-60))
    place = sender.begun()["Location"]
    sender.piece(place, 0, CONTENT[:HALF])
    sweeping.sweep_files()
    assert keys.key_of(BegunUpload.objects.get().pk) is not None
    assert sender.piece(place, HALF, CONTENT[HALF:]).status_code == 204
    sweeping.sweep_files()
    CONVERSIONS.run(Dataset.objects.get().pk)
    assert stored(Dataset.objects.get()) == CONTENT


class Breaking(httpx.BaseTransport):
    """A line that breaks: before a request comes, and after it was answered, in turn."""

    def __init__(self) -> None:
        self.inner = httpx.WSGITransport(app=get_wsgi_application())
        self.sent: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request.method)
        number = len(self.sent)
        if number % 4 == 2:
            raise httpx.WriteError("broken before")
        answer = self.inner.handle_request(request)
        if number % 4 == 0:
            answer.read()
            raise httpx.ReadError("broken after")
        return answer


@pytest.fixture
def broken(program, monkeypatch):
    monkeypatch.setattr(uploading, "PIECE_BYTES", 250)
    monkeypatch.setattr(uploading.time, "sleep", lambda _seconds: None)
    line = Breaking()
    with Portal("http://testserver", program.text, transport=line) as portal:
        yield portal, line


@pytest.mark.slow
def test_the_client_goes_on_by_itself_after_a_broken_connection(broken, tmp_path):
    portal, line = broken
    (tmp_path / "people.csv").write_bytes(CONTENT)
    with (tmp_path / "people.csv").open("rb") as file:
        key = str(uuid4())
        facts = uploading.upload(
            portal.connection, file, key=key, payload={"filename": "people.csv", "name": "People"}
        )
        again = uploading.upload(
            portal.connection, file, key=key, payload={"filename": "people.csv", "name": "People"}
        )
    assert facts["id"] == again["id"] == str(Dataset.objects.get().pk)
    CONVERSIONS.run(Dataset.objects.get().pk)
    assert stored(Dataset.objects.get()) == CONTENT
    assert line.sent.count("PATCH") > len(CONTENT) // 250


def test_the_client_gives_up_where_nothing_answers_and_says_what_is_refused(program, broken, tmp_path):
    portal, _line = broken

    def gone(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody there")

    with (
        Portal("http://testserver", program.text, transport=httpx.MockTransport(gone)) as nowhere,
        pytest.raises(httpx.ConnectError),
    ):
        nowhere.upload(_table(tmp_path, CONTENT), name="People")
    with pytest.raises(PortalError, match="empty"):
        portal.upload(_table(tmp_path, b""), name="People")


def _table(folder, content: bytes):
    path = folder / "people.csv"
    path.write_bytes(content)
    return path
