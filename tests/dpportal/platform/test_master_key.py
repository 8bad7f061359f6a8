"""Where the master key comes from, that it is made once, and that a lost one is never replaced by another."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dpportal.platform import master_key
from dpportal.platform.keys import Keyring, UnsealError, key_id

GOOD, OTHER = "abcdefghij" * 6, "klmnopqrst" * 6


@pytest.fixture(autouse=True)
def no_variables(monkeypatch) -> None:
    for name in (master_key.VARIABLE, master_key.COMMAND, master_key.FILE, master_key.FORMER):
        monkeypatch.delenv(name, raising=False)


def test_it_is_made_beside_the_data_folder_once(tmp_path: Path) -> None:
    data = tmp_path / "data"
    made = master_key.given(data)
    assert (tmp_path / "data.master_key").stat().st_mode & 0o777 == 0o600
    assert master_key.given(data) == made
    assert not [p for p in data.rglob("*") if p.is_file() and made.secrets[0] in p.read_text()]


def test_a_lost_key_is_named_and_no_other_one_is_made(tmp_path: Path) -> None:
    made = master_key.given(tmp_path / "data")
    file = tmp_path / "data.master_key"
    kept = file.read_text()
    file.unlink()
    lost = master_key.given(tmp_path / "data")
    assert lost.missing == key_id(made.secrets[0]) and not file.exists()
    with pytest.raises(UnsealError, match=lost.missing):
        lost.keyring().seal(b"x", bound_to="a")
    file.write_text(kept)
    assert master_key.given(tmp_path / "data") == made


def test_the_variable_comes_first_then_the_command_then_the_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv(master_key.COMMAND, f"printf %s {GOOD}")
    assert master_key.given(tmp_path / "data").secrets == (GOOD,)
    monkeypatch.setenv(master_key.VARIABLE, GOOD)
    monkeypatch.setenv(master_key.COMMAND, "false")
    assert master_key.given(tmp_path / "data").secrets == (GOOD,)
    assert not (tmp_path / "data.master_key").exists()


@pytest.mark.parametrize("command", ["false", "/nowhere/at/all", "'"])
def test_a_command_that_fails_ends_the_start_with_a_sentence(tmp_path: Path, monkeypatch, command) -> None:
    monkeypatch.setenv(master_key.COMMAND, command)
    with pytest.raises(ImproperlyConfigured, match="did not give the master key"):
        master_key.given(tmp_path / "data")


def test_a_new_key_needs_the_old_one_until_all_is_sealed_anew(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv(master_key.VARIABLE, GOOD)
    sealed = master_key.given(tmp_path / "data").around("stream key").seal(b"state", bound_to="a")
    monkeypatch.setenv(master_key.VARIABLE, OTHER)
    assert master_key.given(tmp_path / "data").missing == key_id(GOOD)
    monkeypatch.setenv(master_key.FORMER, GOOD)
    ring = master_key.given(tmp_path / "data").around("stream key")
    assert ring.unseal(sealed, bound_to="a") == b"state"
    fresh = ring.resealed(sealed, bound_to="a")
    monkeypatch.delenv(master_key.FORMER)
    assert fresh and master_key.given(tmp_path / "data").around("stream key").unseal(fresh, bound_to="a")


def test_the_stream_key_alone_opens_what_earlier_versions_sealed_and_nothing_else(tmp_path: Path) -> None:
    ring = master_key.given(tmp_path / "data").around("stream key")
    alone = Keyring("stream key")
    assert ring.unseal(alone.seal(b"old", bound_to="a"), bound_to="a") == b"old"
    with pytest.raises(UnsealError):
        alone.unseal(ring.seal(b"new", bound_to="a"), bound_to="a")


def test_a_place_that_cannot_be_written_is_refused_with_a_remedy(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(master_key.FILE, str(tmp_path / "file" / "key"))
    with pytest.raises(ImproperlyConfigured, match="cannot be made"):
        master_key.given(tmp_path / "data")
