"""A portal whose data folder came without its master key: it starts, says so, and makes nothing in the key's place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse

from dpportal.datasets.import_job import fingerprint
from dpportal.operations import sweeping
from dpportal.platform import journal
from dpportal.platform.keys import Keyring
from dpportal.platform.sealing_faults import KeyMissingFault
from dpportal.publications import idempotency_keys
from dpportal.streams import vault
from tests.dpportal.portal_command.starting import environment

SHOWN = """
from django.conf import settings
print(settings.FINGERPRINT_KEY, settings.SIGNING_KEYS and settings.SIGNING_KEYS.public, settings.MASTER_KEYS.missing)
print(len(settings.SECRET_KEY) >= 50)
"""


@pytest.fixture
def lost(monkeypatch) -> str:
    """The identity of the key that is missing."""
    missing: str = settings.MASTER_KEYS.current
    monkeypatch.setattr(settings, "MASTER_KEYS", Keyring(missing=missing))
    monkeypatch.setattr(settings, "FINGERPRINT_KEY", "")
    monkeypatch.setattr(settings, "SIGNING_KEYS", None)
    return missing


def test_nothing_is_fingerprinted_with_another_key(lost: str) -> None:
    with pytest.raises(KeyMissingFault, match=lost):
        fingerprint("content")
    with pytest.raises(KeyMissingFault, match=lost):
        idempotency_keys.digest("stream", "8e03978e-40d5-43dd-bc93-6894a57f9324")
    assert idempotency_keys.digest("stream", "") == ""


def test_the_page_of_the_public_keys_says_what_is_missing(lost: str, db, client: Client) -> None:
    answer = client.get(reverse("signing_keys"))
    assert answer.status_code == 503 and lost in answer.content.decode()


def test_the_sweep_goes_on_without_a_checkpoint(dataset, lost: str, tmp_path, monkeypatch, caplog) -> None:
    monkeypatch.setattr(settings, "CHECKPOINTS_DIR", tmp_path / "checkpoints")
    sweeping._write_checkpoint()
    assert "the master key is missing" in caplog.text
    assert not list(tmp_path.rglob("*.json"))


@pytest.fixture
def signed_in(dataset, client: Client) -> Client:
    client.force_login(dataset.owner)
    return client


@pytest.fixture
def password(dataset) -> str:
    chosen = "correct horse battery"
    dataset.owner.set_password(chosen)
    dataset.owner.save(update_fields=["password"])
    return chosen


def test_nobody_signs_in_where_no_line_of_the_history_can_be_sealed(
    dataset, password, lost, client: Client
) -> None:
    answer = client.post(
        reverse("accounts:sign_in"), {"username": dataset.owner.username, "password": password}
    )
    assert answer.status_code == 503
    assert lost in answer.content.decode() and "DPPORTAL_MASTER_KEY" in answer.content.decode()
    assert client.get("/").status_code == 200


def test_pages_and_memory_say_what_is_missing_and_what_to_do(
    signed_in: Client, dataset, lost, monkeypatch
) -> None:
    monkeypatch.setattr(settings, "STREAM_KEYS", Keyring("another " * 10, missing=lost))
    client = signed_in
    assert client.get(reverse("datasets:list")).status_code == 200
    for name in ("datasets:home", "datasets:reading", "datasets:first_rows"):
        answer = client.get(reverse(name, args=[dataset.pk]))
        assert answer.status_code == 503
        assert lost in answer.content.decode() and "DPPORTAL_MASTER_KEY" in answer.content.decode()
    with pytest.raises(journal.MemoryFaultError, match=rf"{lost}.*DPPORTAL_MASTER_KEY"):
        journal.mark()


def test_the_state_of_a_stream_names_the_master_key(dataset, lost, monkeypatch) -> None:
    sealed = settings.STREAM_KEYS.seal(b"state", bound_to="state")
    monkeypatch.setattr(settings, "STREAM_KEYS", Keyring("another " * 10, missing=lost))
    with pytest.raises(vault.VaultError, match=rf"{lost}.*DPPORTAL_MASTER_KEY"):
        vault._opened(sealed, "state")


def started(data: Path, **variables: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", SHOWN],
        env={**environment(), "DPPORTAL_DATA_DIR": str(data), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.slow
def test_a_moved_portal_opens_its_secrets_where_the_master_key_was_taken_along(tmp_path: Path) -> None:
    data, elsewhere = tmp_path / "data", tmp_path / "elsewhere" / "data"
    (data / "keys").mkdir(parents=True)
    plain = "A-secret-in-plain-text-of-an-earlier-version-of-the-portal"
    for name in ("secret_key", "fingerprint_key", "stream_key", "signing_key"):
        (data / "keys" / name).write_text(plain)
    first = started(data)
    assert first[0].startswith(plain)
    assert not [path for path in data.rglob("*") if path.is_file() and plain.encode() in path.read_bytes()]
    elsewhere.parent.mkdir()
    data.rename(elsewhere)
    identity = (elsewhere / "keys" / "master_key.used").read_text()
    assert started(elsewhere) == [f" None {identity}", "True"]
    (tmp_path / "data.master_key").rename(tmp_path / "elsewhere" / "data.master_key")
    assert started(elsewhere) == first
