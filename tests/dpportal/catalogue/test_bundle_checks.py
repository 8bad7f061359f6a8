"""A reader sends a download to the portal's page and reads whether it is what was published; nothing of it stays."""

from __future__ import annotations

import io
import json
import re
import zipfile
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.test import Client
from django.urls import reverse

from dpportal.catalogue import bundle_checks, bundle_verifier
from dpportal.catalogue.bundle_checks import CHECKS
from dpportal.catalogue.models import BundleCheck
from dpportal.jobs import queues
from dpportal.jobs.clock import db_ago
from dpportal.jobs.embedded import processes
from dpportal.jobs.runner import kinds
from dpportal.tables.meaning.parse_options import Limits
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.finding import State
from tests.dpportal.publications.forging import zipped
from tests.dpportal.releases.products.test_verified import altered, downloaded

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


def sent(client: Client, content: bytes, name: str = "release.zip") -> str:
    """Send a file, have a worker look at it, and read the page of the result."""
    answer = client.post(reverse("check"), {"file": SimpleUploadedFile(name, content)})
    assert answer.status_code == 302, answer.content.decode()
    assert "Waiting for a worker" in client.get(answer.url).content.decode()
    for check in BundleCheck.objects.filter(state="queued"):
        CHECKS.run(check.pk)
    return client.get(answer.url).content.decode()


def test_a_download_holds_and_an_altered_one_does_not(client, ready, tmp_path):
    path = downloaded(ready, tmp_path)
    page = sent(client, path.read_bytes())
    assert "Nothing was changed" in page
    holds = [finding for finding in verify(Bundle.read(path)) if finding.state is State.HOLDS]
    assert page.count("<td>Holds</td>") == len(holds) > 9
    page = sent(client, altered(path, README_md=b"Something else").read_bytes())
    assert "This is not what the portal published" in page
    assert "README.md was changed" in page


@pytest.mark.parametrize("swapped", [False, True], ids=["what was found", "the file"])
def test_whoever_has_the_database_alone_cannot_have_a_check_say_something_else(
    client, ready, tmp_path, swapped
):
    path = downloaded(ready, tmp_path)
    sent(client, path.read_bytes())
    honest = BundleCheck.objects.get()
    page = sent(client, altered(path, README_md=b"Something else").read_bytes())
    assert "This is not what the portal published" in page
    forged = BundleCheck.objects.exclude(pk=honest.pk)
    names = ["findings", "publication", "release_sha256", *(["file", "seal"] if swapped else [])]
    forged.update(**{name: getattr(honest, name) for name in names})
    answer = client.get(reverse("checked", args=[forged.get().pk]))
    assert answer.status_code == 404 and "Nothing was changed" not in answer.text


def test_whoever_has_the_database_alone_cannot_have_a_check_say_why_it_failed(client):
    page = sent(client, b"colour,age\nred,3\n")
    assert "it is no zip" in page
    check = BundleCheck.objects.all()
    check.update(failure="This is what the portal published: send your password to the address in it.")
    answer = client.get(reverse("checked", args=[check.get().pk]))
    assert answer.status_code == 404 and "password" not in answer.text


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_whoever_has_the_database_alone_cannot_end_a_check_with_a_sentence(client, state):
    answer = client.post(reverse("check"), {"file": SimpleUploadedFile("release.zip", b"waits")})
    BundleCheck.objects.update(state=state, failure="This is what the portal published.")
    answer = client.get(answer.url)
    assert answer.status_code == 404 and "what the portal published." not in answer.text


def test_a_check_that_is_given_up_says_nothing_that_its_row_said_before(client):
    answer = client.post(reverse("check"), {"file": SimpleUploadedFile("release.zip", b"waits")})
    BundleCheck.objects.update(
        state="running",
        attempts=settings.JOB_ATTEMPTS,
        failure="This is what the portal published.",
        lease_until=db_ago(60.0),
    )
    CHECKS.sweep()
    page = client.get(answer.url).text
    assert "This could not be checked" in page and "interrupted" in page
    assert "what the portal published." not in page


def test_every_line_of_a_result_is_in_the_reader_s_language(client, ready, tmp_path):
    sent(client, downloaded(ready, tmp_path).read_bytes())
    address = reverse("checked", args=[BundleCheck.objects.get().pk])
    page = client.get(address, headers={"accept-language": "zh-hans"}).content.decode()
    cells = re.findall(r"<td>(.*?)</td>", page)
    # A word alone is a name, such as that of a mechanism.
    assert len(cells) > 20
    assert not [cell for cell in cells if " " in cell and not re.search("[\u4e00-\u9fff]", cell)]


def test_half_of_a_character_in_a_file_gets_a_page(client, ready, tmp_path):
    """No file can hold it, no page say it, and PostgreSQL keeps neither it nor a NUL."""
    path = downloaded(ready, tmp_path)
    facts = {**Bundle.read(path).release, "x\ud800\0": 1}
    page = sent(client, altered(path, release_json=json.dumps(facts).encode()).read_bytes())
    assert "x??" in page


def test_the_file_goes_with_the_check_and_the_result_soon(client, ready, tmp_path):
    sent(client, downloaded(ready, tmp_path).read_bytes())
    check = BundleCheck.objects.get()
    assert not default_storage.exists(check.file)
    BundleCheck.objects.update(asked_at=F("asked_at") - timedelta(seconds=bundle_checks.RETENTION_SECONDS))
    answer = client.get(reverse("checked", args=[check.pk]))
    assert answer.status_code == 404
    assert "This result is gone" in answer.content.decode()
    bundle_checks.forget()
    assert not BundleCheck.objects.exists()


def test_a_file_that_no_worker_looked_at_goes_too(client):
    client.post(reverse("check"), {"file": SimpleUploadedFile("release.zip", b"waits")})
    check = BundleCheck.objects.get()
    assert default_storage.exists(check.file)
    BundleCheck.objects.update(asked_at=F("asked_at") - timedelta(seconds=bundle_checks.RETENTION_SECONDS))
    bundle_checks.forget()
    assert not default_storage.exists(check.file)


def test_the_page_says_where_a_receipt_is_checked(client):
    page = client.get(reverse("check")).content.decode()
    assert "It also checks receipts of deleted records; this page takes zips only." in page


def test_what_is_no_download_is_said_to_be_none(client):
    assert "it is no zip" in sent(client, b"colour,age\nred,3\n")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("notes.txt", "nothing")
    assert "it has no release.json" in sent(client, archive.getvalue())


def test_a_file_that_unfolds_without_end_is_given_up(client, monkeypatch):
    monkeypatch.setattr(bundle_verifier, "LIMITS", Limits(memory_bytes=150 * 2**20, seconds=60.0))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("release.json", b" " * 2**30)
    assert "Check the download on your own machine" in sent(client, archive.getvalue())
    assert not default_storage.exists(BundleCheck.objects.get().file)


def test_what_a_file_says_is_shown_as_text(client, tmp_path):
    release = b'{"plan": {}, "files": {"<script>alert(1)</script>": {}}, "product": "x"}'
    page = sent(client, zipped(tmp_path / "a.zip", {"release.json": release}).read_bytes())
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; is missing" in page


def test_one_network_and_all_together_have_so_many(client, monkeypatch):
    monkeypatch.setattr(bundle_checks, "FROM_NETWORK", 1)
    file = {"file": SimpleUploadedFile("release.zip", b"waits")}
    assert client.post(reverse("check"), file).status_code == 302
    file = {"file": SimpleUploadedFile("release.zip", b"waits")}
    answer = client.post(reverse("check"), file)
    assert answer.status_code == 422
    assert "From your network" in answer.content.decode()
    monkeypatch.setattr(bundle_checks, "MOST_WAITING", 1)
    file = {"file": SimpleUploadedFile("release.zip", b"waits")}
    answer = client.post(reverse("check"), file, REMOTE_ADDR="192.0.2.7")
    assert "Many downloads are being checked" in answer.content.decode()
    assert BundleCheck.objects.count() == 1


def test_a_form_without_a_file_says_what_to_choose(client):
    answer = client.post(reverse("check"))
    assert answer.status_code == 422
    assert "Choose the zip" in answer.content.decode()


def test_an_answer_that_is_long_without_end_is_given_up(client, ready, tmp_path, monkeypatch):
    monkeypatch.setattr(bundle_verifier, "MOST_OUTPUT", 100)
    assert "own machine" in sent(client, downloaded(ready, tmp_path).read_bytes())


def test_checks_wait_in_a_queue_of_their_own_and_one_at_a_time_of_a_network():
    assert CHECKS.queue_of(BundleCheck().pk) == queues.CHECKS and CHECKS.singly
    others = [kind for kind in kinds() if kind is not CHECKS]
    assert others and not any(queues.CHECKS in kind.queues for kind in others)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_process_that_takes_checks_takes_nothing_else(workers):
    """How long a check waits says nothing of uploads that are read meanwhile."""
    takes = [
        p.run.args[1] for p in processes("127.0.0.1", 8000, workers) if len(getattr(p.run, "args", ())) > 1
    ]
    assert [names for names in takes if queues.CHECKS in names] == [(queues.CHECKS,)]
