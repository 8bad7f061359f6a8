"""`manage.py verify` and checkpoints: what agrees is said to agree, and the first thing that does not is named."""

from __future__ import annotations

import io
import json
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.urls import reverse

from dpportal.accounts import audit
from dpportal.history import checkpoints
from dpportal.history.checkpoints import CheckpointError
from dpportal.history.verification import verify
from dpportal.operations import sweeping, verification
from dpportal.platform.signing import SigningKeys
from dpportal.releases.models import Artifact


@pytest.fixture(autouse=True)
def _own_files(settings, tmp_path):
    """Files that other tests left, whose rows are gone, are no finding here."""
    own = {**settings.STORAGES["default"], "OPTIONS": {"location": tmp_path / "files"}}
    settings.STORAGES = {**settings.STORAGES, "default": own}


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("verify", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def checkpoint(dataset, tmp_path):
    path = tmp_path / "checkpoint.json"
    call_command("checkpoint", str(path), stdout=io.StringIO())
    return path


@pytest.mark.slow
def test_a_portal_at_work_agrees_and_a_changed_download_is_named(ready):
    assert "All agrees" in said()
    file = Artifact.objects.filter(name__endswith=".csv").first()
    with default_storage.open(file.stored, "ab") as content:
        content.write(b"1\n")
    gone = Artifact.objects.get(name="release.json")
    default_storage.delete(gone.stored)
    out = io.StringIO()
    with pytest.raises(CommandError, match="2 findings"):
        call_command("verify", stdout=out)
    assert f"{file.stored} was changed" in out.getvalue() and f"{gone.stored} is gone" in out.getvalue()


def test_a_file_that_nobody_names_is_found(dataset, monkeypatch):
    monkeypatch.setattr(sweeping, "ORPHANS_AFTER", timedelta(hours=-1))
    default_storage.save("uploads/lost", ContentFile(b"left"))
    assert "No row names the stored file uploads/lost." in list(verification.problems(verify()))


def test_verification_goes_on_from_a_checkpoint(checkpoint, curator):
    audit.record(curator, "later", curator)
    assert "All agrees" in said("--since", str(checkpoint))


@pytest.mark.parametrize(
    "change, words",
    [
        ({"position": 0}, "one of both was changed"),
        ({"digest": "0" * 64}, "one of both was changed"),
        ({"at": 0.5}, "no checkpoint"),
    ],
    ids=["position", "digest", "float"],
)
def test_a_changed_checkpoint_is_refused(checkpoint, change, words):
    document = json.loads(checkpoint.read_text())
    document["checkpoint"] |= change
    with pytest.raises(CheckpointError, match=words):
        checkpoints.read(json.dumps(document).encode())


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"\xff", b'{"checkpoint": 1}', b'{"checkpoint": {}}'])
def test_what_is_no_checkpoint_is_refused_in_words(db, content):
    with pytest.raises(CheckpointError, match=r"no checkpoint|never had"):
        checkpoints.read(content)


def test_another_portals_checkpoint_is_refused_and_a_former_keys_is_not(checkpoint, settings):
    mine, content = settings.SIGNING_KEYS, checkpoint.read_bytes()
    settings.SIGNING_KEYS = SigningKeys("another key of at least so many characters as asked for")
    with pytest.raises(CheckpointError, match="never had"):
        checkpoints.read(content)
    settings.SIGNING_KEYS = SigningKeys("new", "old")
    checkpoint.unlink()
    checkpoints.write(checkpoint)
    settings.SIGNING_KEYS = SigningKeys("newest", "new")
    assert checkpoints.read(checkpoint.read_bytes()) == verify()
    assert mine.public[0] == json.loads(content)["key"]


def test_the_sweep_writes_one_a_day_where_something_was_written(
    dataset, curator, settings, tmp_path, monkeypatch
):
    settings.CHECKPOINTS_DIR = tmp_path / "checkpoints"
    for _ in range(2):
        checkpoints.write_nightly()
    [first] = settings.CHECKPOINTS_DIR.iterdir()
    audit.record(curator, "later", curator)
    checkpoints.write_nightly()
    assert len(list(settings.CHECKPOINTS_DIR.iterdir())) == 1
    monkeypatch.setattr(checkpoints, "EVERY", timedelta(0))
    checkpoints.write_nightly()
    newest = max(settings.CHECKPOINTS_DIR.iterdir())
    assert newest != first and checkpoints.read(newest.read_bytes()) == verify()
    checkpoints.write_nightly()  # nothing was written since
    assert len(list(settings.CHECKPOINTS_DIR.iterdir())) == 2


def test_no_checkpoint_is_written_over(checkpoint, curator):
    before = checkpoint.read_bytes()
    audit.record(curator, "later", curator)
    with pytest.raises(CommandError, match="there already"):
        call_command("checkpoint", str(checkpoint))
    assert checkpoint.read_bytes() == before


def test_the_public_keys_stand_at_a_known_address(client, db):
    answer = client.get(reverse("signing_keys"))
    assert answer.json() == {
        "keys": [{"algorithm": "Ed25519", "public": k} for k in settings.SIGNING_KEYS.public]
    }


def test_an_administrator_takes_a_checkpoint_from_the_page_health(client, administrator, curator, dataset):
    client.force_login(administrator)
    assert reverse("checkpoint") in client.get(reverse("health_page")).content.decode()
    answer = client.post(reverse("checkpoint"))
    assert "attachment" in answer["Content-Disposition"]
    assert checkpoints.read(b"".join(answer)).position > 0
    client.force_login(curator)
    assert client.post(reverse("checkpoint")).status_code == 404
