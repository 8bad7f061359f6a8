"""The portal's own secrets: made once, wrapped by the master key, and named where they cannot be opened."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dpportal.platform import keys, secret_files
from dpportal.platform.keys import key_id
from dpportal.platform.master_key import MasterKey
from dpportal.platform.secret_files import SecretFiles

OLD, NEW = "abcdefghij" * 6, "klmnopqrst" * 6
PLAIN, FORMER = "A-plain-secret-of-an-earlier-version-" * 2, "A-former-secret-of-an-earlier-version-" * 2


def files(folder: Path, *masters: str) -> SecretFiles:
    return SecretFiles(folder, MasterKey(masters or (OLD,)))


def without_master(folder: Path) -> SecretFiles:
    return SecretFiles(folder, MasterKey((NEW,), missing=key_id(OLD)))


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / "keys" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def on_disk(folder: Path) -> str:
    return "".join(path.read_text() for path in folder.rglob("*") if path.is_file())


def test_a_secret_is_made_once_for_its_owner_only_and_is_not_on_the_disk(tmp_path: Path) -> None:
    first = files(tmp_path).current("secret_key")
    assert files(tmp_path).current("secret_key") == first and len(first) >= 64
    assert stat.S_IMODE((tmp_path / "keys" / "secret_key").stat().st_mode) == 0o600
    assert first not in on_disk(tmp_path)
    assert first != files(tmp_path).current("fingerprint_key")


def test_a_plain_file_is_wrapped_in_its_place(tmp_path: Path) -> None:
    path = written(tmp_path, "fingerprint_key", PLAIN)
    written(tmp_path, ".fingerprint_key.1234", PLAIN)  # as a process that died while it made the key leaves
    assert files(tmp_path).current("fingerprint_key") == PLAIN
    assert PLAIN not in on_disk(tmp_path) and stat.S_IMODE(path.stat().st_mode) == 0o600
    wrapped = path.read_text()
    assert files(tmp_path).current("fingerprint_key") == PLAIN
    assert path.read_text() == wrapped and list(path.parent.iterdir()) == [path]


def test_former_secrets_are_wrapped_too_and_a_wrapped_line_may_be_moved_among_them(tmp_path: Path) -> None:
    current = written(tmp_path, "signing_key", PLAIN)
    assert files(tmp_path).current("signing_key") == PLAIN
    written(tmp_path, "signing_key.old", f"{FORMER}\n{current.read_text()}\n")
    current.unlink()
    assert files(tmp_path).former("signing_key") == [FORMER, PLAIN]
    assert FORMER not in on_disk(tmp_path)
    assert files(tmp_path).former("signing_key") == [FORMER, PLAIN]


def test_a_new_master_key_wraps_what_the_former_one_did(tmp_path: Path) -> None:
    made = files(tmp_path, OLD).current("stream_key")
    written(tmp_path, "stream_key.old", FORMER)
    files(tmp_path, OLD).former("stream_key")
    both = files(tmp_path, NEW, OLD)
    assert (both.current("stream_key"), both.former("stream_key")) == (made, [FORMER])
    alone = files(tmp_path, NEW)
    assert (alone.current("stream_key"), alone.former("stream_key")) == (made, [FORMER])


def test_without_the_master_key_nothing_is_opened_made_or_changed(tmp_path: Path) -> None:
    files(tmp_path).current("stream_key")
    written(tmp_path, "stream_key.old", (tmp_path / "keys" / "stream_key").read_text())
    before = on_disk(tmp_path)
    lost = without_master(tmp_path)
    assert (lost.current("stream_key"), lost.former("stream_key")) == ("", [])
    assert lost.current("secret_key") == ""
    assert on_disk(tmp_path) == before


def test_another_master_key_is_refused_with_the_identity_of_the_right_one(tmp_path: Path) -> None:
    files(tmp_path, OLD).current("stream_key")
    with pytest.raises(ImproperlyConfigured, match=rf"{key_id(OLD)}.*DPPORTAL_MASTER_KEY.*former one"):
        files(tmp_path, NEW).current("stream_key")


@pytest.mark.parametrize("text", [f"{secret_files.WRAPPED}AAAA", f"{secret_files.WRAPPED}%", "swapped"])
def test_a_changed_or_swapped_file_is_refused(tmp_path: Path, text: str) -> None:
    files(tmp_path).current("stream_key")
    files(tmp_path).current("signing_key")
    whole = (tmp_path / "keys" / "stream_key").read_text()
    written(tmp_path, "signing_key", whole if text == "swapped" else text)
    with pytest.raises(ImproperlyConfigured, match=r"changed since|does not have"):
        files(tmp_path).current("signing_key")


def test_a_folder_that_cannot_be_written_is_named_with_a_remedy(tmp_path: Path, monkeypatch) -> None:
    written(tmp_path, "stream_key", PLAIN)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ImproperlyConfigured, match=r"cannot be wrapped.*No space left.*DPPORTAL_STREAM_KEY"):
        files(tmp_path).current("stream_key")
    assert (tmp_path / "keys" / "stream_key").read_text() == PLAIN


def test_a_variable_goes_first(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("DPPORTAL_SECRET_KEY", "given" * 10)
    monkeypatch.setenv("DPPORTAL_SECRET_KEY_OLD", "one two")
    assert files(tmp_path).current("secret_key") == "given" * 10
    assert files(tmp_path).former("secret_key") == ["one", "two"]
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize("short", ["", "k", "k" * 49, " " * 60, "k" * 60, "given" * 9 + " " * 9])
def test_a_key_too_short_or_simple_to_be_one_is_refused_with_a_remedy(
    tmp_path: Path, monkeypatch, short
) -> None:
    path = written(tmp_path, "secret_key", short)
    with pytest.raises(ImproperlyConfigured, match=r"too short or too simple.*Restore the key"):
        files(tmp_path).current("secret_key")
    assert path.read_text() == short
    monkeypatch.setenv("DPPORTAL_STREAM_KEY", short)
    with pytest.raises(ImproperlyConfigured, match="DPPORTAL_STREAM_KEY"):
        files(tmp_path).current("stream_key")


def test_of_many_first_starts_all_have_one_whole_key(tmp_path: Path) -> None:
    """Each reads the key the moment that there is one; none ever sees a part of it."""
    with ThreadPoolExecutor(16) as pool:
        for attempt in range(40):
            folder = tmp_path / str(attempt)
            made = set(pool.map(lambda _: files(folder).current("secret_key"), range(16)))  # noqa: B023
            assert len(made) == 1 and len(made.pop()) == 64
            assert [path.name for path in (folder / "keys").iterdir()] == ["secret_key"]


def test_of_many_starts_that_wrap_a_plain_key_none_loses_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        for attempt in range(40):
            folder = tmp_path / str(attempt)
            folder.mkdir()
            written(folder, "stream_key", PLAIN)
            assert set(pool.map(lambda _: files(folder).current("stream_key"), range(16))) == {PLAIN}  # noqa: B023
            assert PLAIN not in on_disk(folder)
            assert files(folder).current("stream_key") == PLAIN


KILLED = """
import os, sys
from pathlib import Path
from dpportal.platform.master_key import MasterKey
from dpportal.platform.secret_files import SecretFiles
synced, dies_at = os.fsync, int(sys.argv[3])
def sync(descriptor):
    global dies_at
    dies_at -= 1
    if dies_at < 0:
        os._exit(9)
    synced(descriptor)
os.fsync = sync
SecretFiles(Path(sys.argv[1]), MasterKey((sys.argv[2],))).current("stream_key")
"""


@pytest.mark.slow
@pytest.mark.parametrize("dies_at", [0, 1])
def test_a_start_that_dies_while_it_wraps_loses_nothing(tmp_path: Path, dies_at: int) -> None:
    """Before the new file is durable, and after it took the plain one's place."""
    written(tmp_path, "stream_key", PLAIN)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), OLD, str(dies_at)], check=False, cwd=Path.cwd()
    )
    assert done.returncode == 9
    assert files(tmp_path).current("stream_key") == PLAIN
    assert PLAIN not in on_disk(tmp_path)


def test_a_key_that_an_operator_wrote_with_a_line_end_stays_the_same_key(tmp_path: Path) -> None:
    written(tmp_path, "stream_key", f"{PLAIN}\n")
    assert files(tmp_path).current("stream_key") == files(tmp_path).current("stream_key") == f"{PLAIN}\n"


def test_parts_of_another_start_are_left_alone(tmp_path: Path) -> None:
    part = written(tmp_path, ".stream_key.5678", "wrapped:AAAA")
    written(tmp_path, "stream_key", PLAIN)
    files(tmp_path).current("stream_key")
    assert part.exists() and keys.parts_of(tmp_path / "keys" / "stream_key") == [part]
