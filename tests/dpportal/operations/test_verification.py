"""`manage.py verify` and checkpoints: what agrees is said to agree, and the first thing that does not is named."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse

from dpportal.accounts import audit
from dpportal.budgets import ledger
from dpportal.history import checkpoints
from dpportal.history.checkpoints import CheckpointError
from dpportal.history.models import Link
from dpportal.history.verification import ChainPosition, verify
from dpportal.operations import sweeping, verification
from dpportal.platform import triggers
from dpportal.platform.signing import SigningKeys
from dpportal.releases.models import Artifact
from dpportal.streams import closing
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import SealedState
from dpportal.streams.vault import MemoryUnreachableError
from tests.dpportal.history.test_chain import unguarded
from tests.dpportal.streams.building import open_stream


@pytest.fixture(autouse=True)
def _own_files(settings, tmp_path):
    """Files that other tests left, whose rows are gone, are no finding here."""
    own = {**settings.STORAGES["default"], "OPTIONS": {"location": tmp_path / "files"}}
    settings.STORAGES = {**settings.STORAGES, "default": own}


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("verify", *arguments, stdout=out)
    return out.getvalue()


def of(path: Path) -> ChainPosition:
    read = checkpoints.read(path.read_bytes())
    return ChainPosition(read.position, read.digest)


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


def test_a_running_count_that_a_restore_closed_is_no_finding_for_ever(dataset):
    closing.close(open_stream(dataset), by_restore=True)
    assert "All agrees" in said()


def test_a_file_that_nobody_names_is_found(dataset, monkeypatch):
    monkeypatch.setattr(sweeping, "ORPHANS_AFTER", timedelta(hours=-1))
    default_storage.save("uploads/lost", ContentFile(b"left"))
    assert "No row names the stored file uploads/lost." in list(verification.problems([]))


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
    assert of(checkpoint) == verify()
    assert mine.public[0] == json.loads(content)["key"]


def test_the_sweep_writes_one_a_day_where_something_was_written(
    dataset, curator, settings, tmp_path, monkeypatch
):
    for _ in range(2):
        checkpoints.write_if_due()
    [first] = settings.CHECKPOINTS_DIR.iterdir()
    audit.record(curator, "later", curator)
    checkpoints.write_if_due()
    assert len(list(settings.CHECKPOINTS_DIR.iterdir())) == 1
    monkeypatch.setattr(checkpoints, "EVERY", timedelta(0))
    checkpoints.write_if_due()
    newest = checkpoints.written()[-1]
    assert newest != first and of(newest) == verify()
    checkpoints.write_if_due()  # nothing was written since
    assert len(list(settings.CHECKPOINTS_DIR.iterdir())) == 2


def test_the_sweep_writes_the_first_at_once_and_one_after_many_lines(dataset, curator, monkeypatch):
    assert "Warning: there is no checkpoint" in said()
    sweeping.sweep_jobs()
    [first] = checkpoints.written()
    monkeypatch.setattr(checkpoints, "EVERY_LINES", 3)
    for _ in range(2):
        audit.record(curator, "later", curator)
        sweeping.sweep_jobs()
    assert checkpoints.written() == [first]
    assert f"{first.name}, is 0 minutes old. The 2 lines since then" in said()
    audit.record(curator, "later", curator)
    sweeping.sweep_jobs()
    [_, second] = checkpoints.written()
    assert checkpoints.read(second.read_bytes()).since == checkpoints.read(first.read_bytes()).position
    assert "The 0 lines since then" in said()


def refused() -> str:
    out = io.StringIO()
    with pytest.raises(CommandError, match="findings"):
        call_command("verify", stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("name", ["checkpoint-20260101T000000-7.json", "old.json", "x.part", "notes"])
@pytest.mark.parametrize("content", [None, b"\x00\xff", b""])
def test_a_file_that_is_no_checkpoint_is_named_whatever_it_is_called(dataset, name, content):
    checkpoints.write_if_due()
    [whole] = checkpoints.written()
    cut = whole.read_bytes()[:40] if content is None else content
    (whole.parent / name).write_bytes(cut)
    assert f"{name}: This file is no checkpoint" in refused()


def test_a_checkpoint_that_was_renamed_still_counts(dataset, curator):
    checkpoints.write_if_due()
    [whole] = checkpoints.written()
    whole.rename(whole.parent / "kept.json")
    with unguarded():
        Link.objects.order_by("-position")[:1].get().delete()
    assert "kept.json" in refused()


def test_an_emptied_file_of_a_running_count_is_seen_and_nothing_is_drawn(dataset, memory_of_its_own):
    stream = open_stream(dataset)
    publish(stream.pk, [Update(1, (4,), "typed")])
    assert "All agrees" in said()
    newest = memory_of_its_own / "streams" / str(stream.pk) / "1"
    newest.write_bytes(b"")
    assert f"{dataset.name}: {stream.name}" in refused()
    with pytest.raises(MemoryUnreachableError, match="lacks periods"):
        publish(stream.pk, [Update(2, (4,), "typed")])


def test_an_emptied_place_of_a_charge_is_seen(requested, memory_of_its_own):
    ledger.spend(requested.charge)
    assert list(verification.damaged_charges()) == []
    [place] = (memory_of_its_own / "places" / str(requested.dataset_id)).iterdir()
    place.write_bytes(b"")
    [found] = verification.damaged_charges()
    assert f"Place {place.name} of dataset" in found


def test_a_secret_state_that_was_changed_or_is_gone_is_seen(dataset):
    stream = open_stream(dataset)
    assert list(verification.unopened_states()) == []
    SealedState.objects.update(version=7)  # an older one in its place is sealed for another version
    assert "were changed" in next(verification.unopened_states())
    SealedState.objects.all().delete()
    assert f"{stream.pk}: The secret state" in next(verification.unopened_states())


@pytest.mark.slow
def test_a_ledger_whose_tail_was_cut_off_is_seen_without_any_checkpoint(ready):
    """With the budget's sums made to agree: the journal outside the database knows the charge."""
    charge = ready.charge
    links = Link.objects.filter(event__in=("line", "settled"), line=charge.pk)
    first = links.order_by("position").first().position
    with unguarded(), connection.cursor() as cursor:
        for imprint in Link.objects.filter(event="imprint", position__gte=first).values_list(
            "line", flat=True
        ):
            cursor.execute("DELETE FROM history_imprint WHERE id = %s", [imprint])
        for entry in Link.objects.filter(event="audit", position__gte=first).values_list("line", flat=True):
            cursor.execute("DELETE FROM accounts_auditentry WHERE id = %s", [entry])
        Link.objects.filter(position__gte=first).delete()
        cursor.execute("DELETE FROM releases_releasejob")
        cursor.execute("DELETE FROM releases_artifact")
        cursor.execute("DELETE FROM releases_release")
        cursor.execute("DELETE FROM budgets_ledgerentry WHERE id = %s", [charge.pk])
        cursor.execute("UPDATE budgets_budget SET spent = 0")
    assert "put back from an older copy. It lacks these charges" in refused()


def test_a_checkpoint_of_another_portal_in_the_folder_is_a_finding(dataset, settings):
    checkpoints.write_if_due()
    settings.SIGNING_KEYS = SigningKeys("another key of at least so many characters as asked for")
    assert "signed with a key that this portal never had" in refused()


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


@pytest.mark.slow
def test_a_charge_in_the_memory_that_was_emptied_is_named(ready):
    place = settings.MEMORY_DIR / "charges" / str(ready.dataset_id) / ready.charge.key.hex
    place.write_bytes(b"")
    assert f"Charge {ready.charge.key.hex} in the memory" in refused()


@pytest.mark.django_db
@pytest.mark.parametrize("replaced", [False, True], ids=["gone", "changed"])
def test_a_trigger_that_refuses_no_more_is_named(replaced):
    """One that has its name and does nothing, too; whoever migrates has it again."""
    assert list(verification.lost_triggers()) == []
    guard = triggers.guards["history"]
    name = sorted(guard.expected(connection.vendor))[0]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT tbl_name FROM sqlite_master WHERE name = %s", [name])
            [(table,)] = cursor.fetchall()
            cursor.execute(f"DROP TRIGGER {name}")
            if replaced:
                cursor.execute(f"CREATE TRIGGER {name} BEFORE DELETE ON {table} BEGIN SELECT 1; END")
        elif replaced:
            cursor.execute(
                f"CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
                "$$ BEGIN RETURN OLD; END $$"
            )
        else:
            cursor.execute(
                f"SELECT relname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE tgname = '{name}'"
            )
            [(table,)] = cursor.fetchall()
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {name}")
    [said] = verification.lost_triggers()
    assert name in said
    guard.install("default")
    assert list(verification.lost_triggers()) == []


def test_a_value_that_no_portal_writes_is_a_finding(ready, capsys):
    """Whoever has the database can write anything."""
    with unguarded(), connection.cursor() as cursor:
        cursor.execute("UPDATE budgets_ledgerentry SET amount = 'many'")
    with pytest.raises(CommandError, match="findings"):
        call_command("verify")
    assert "cannot be checked: a value has a form that no portal writes" in capsys.readouterr().out
