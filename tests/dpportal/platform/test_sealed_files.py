"""Sealed files: read from any place, refused after any change, and of no use without the key."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from dpportal.platform import sealed_files
from dpportal.platform.sealed_files import CHUNK, ChangedFileError, SealedPath

LENGTHS = (0, 1, CHUNK - 9, CHUNK - 8, CHUNK - 7, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 7)


def sealed(folder: Path, content: bytes) -> SealedPath:
    file = SealedPath(folder / "sealed", sealed_files.new_key(), "records/a/b.parquet")
    with file.open("wb") as target:
        target.write(content)
    return file


def content_of(length: int) -> bytes:
    return bytes(number % 251 for number in range(length))


@pytest.mark.parametrize("length", LENGTHS)
def test_what_was_written_is_read_whole_and_from_any_place(tmp_path: Path, length: int) -> None:
    content = content_of(length)
    file = sealed(tmp_path, content)
    assert file.size == length
    with file.open("rb") as source:
        assert source.read() == content
        for place in (0, length // 2, max(0, length - 3)):
            source.seek(place)
            assert source.read(100) == content[place : place + 100]


def test_the_length_of_a_file_tells_no_row(tmp_path: Path) -> None:
    """Whoever knows all but one row of a table knows its length with either value of that row."""
    assert {sealed(tmp_path, content_of(n)).path.stat().st_size for n in (0, 1, 60_000)} == {
        sealed_files.HEAD_BYTES + sealed_files.SEALED_CHUNK
    }
    assert sealed(tmp_path, content_of(CHUNK)).path.stat().st_size == (
        sealed_files.HEAD_BYTES + 2 * sealed_files.SEALED_CHUNK
    )


def former(folder: Path, content: bytes) -> SealedPath:
    """A sealed file as it was written before lengths were hidden: head, then sealed chunks."""
    file = SealedPath(folder / "former", b"k" * sealed_files.KEY_BYTES, "records/a/b.parquet")
    head = b"dpportal sealed1" + b"s" * sealed_files.SALT_BYTES
    info = b"dpportal sealed file records/a/b.parquet"
    cipher = AESGCM(HKDF(SHA256(), length=32, salt=b"s" * 32, info=info).derive(file.key))
    pieces = [content[at : at + CHUNK] for at in range(0, len(content), CHUNK)] or [b""]
    nonces = [n.to_bytes(11, "big") + bytes([n == len(pieces) - 1]) for n in range(len(pieces))]
    chunks = [cipher.encrypt(nonce, piece, None) for nonce, piece in zip(nonces, pieces, strict=True)]
    file.path.write_bytes(head + b"".join(chunks))
    return file


@pytest.mark.parametrize("length", LENGTHS)
def test_a_file_of_an_earlier_version_is_read_and_its_mark_cannot_be_exchanged(
    tmp_path: Path, length: int
) -> None:
    file = former(tmp_path, content_of(length))
    assert sealed_files.is_sealed(file.path) and file.size == length
    with file.open("rb") as source:
        assert source.read() == content_of(length)
    for mine, other in ((file, sealed_files.MARK), (sealed(tmp_path, b"new"), sealed_files.FORMER_MARK)):
        mine.path.write_bytes(other + mine.path.read_bytes()[len(other) :])
        with pytest.raises(ChangedFileError):
            mine.open("rb")


def test_nothing_of_the_content_is_on_the_disk(tmp_path: Path) -> None:
    file = sealed(tmp_path, b"canary" * 100_000)
    assert b"canary" not in file.path.read_bytes()


@pytest.mark.parametrize("place", [3, 20, 60, CHUNK, CHUNK + 500, -1])
def test_one_altered_byte_is_noticed(tmp_path: Path, place: int) -> None:
    file = sealed(tmp_path, content_of(2 * CHUNK))
    changed = bytearray(file.path.read_bytes())
    changed[place] ^= 1
    file.path.write_bytes(changed)
    with pytest.raises(ChangedFileError), file.open("rb") as source:
        source.read()


@pytest.mark.parametrize("left", [0, 40, 64, sealed_files.HEAD_BYTES + sealed_files.SEALED_CHUNK])
def test_a_cut_file_is_noticed_when_it_is_opened(tmp_path: Path, left: int) -> None:
    file = sealed(tmp_path, content_of(2 * CHUNK))
    file.path.write_bytes(file.path.read_bytes()[:left])
    with pytest.raises(ChangedFileError):
        file.open("rb")


def test_chunks_cannot_change_places(tmp_path: Path) -> None:
    file = sealed(tmp_path, content_of(3 * CHUNK))
    whole, step = file.path.read_bytes(), sealed_files.SEALED_CHUNK
    head, first, second = (
        whole[: sealed_files.HEAD_BYTES],
        whole[sealed_files.HEAD_BYTES :][:step],
        whole[sealed_files.HEAD_BYTES + step :][:step],
    )
    file.path.write_bytes(head + second + first + whole[len(head) + 2 * step :])
    with pytest.raises(ChangedFileError), file.open("rb") as source:
        source.read()


def test_it_opens_with_its_own_key_and_under_its_own_name_alone(tmp_path: Path) -> None:
    file = sealed(tmp_path, b"records")
    for other in (
        replace(file, key=sealed_files.new_key()),
        replace(file, bound_to="records/a/c.parquet"),
    ):
        with pytest.raises(ChangedFileError):
            other.open("rb")


def test_a_file_that_ended_before_it_was_closed_is_none(tmp_path: Path) -> None:
    file = SealedPath(tmp_path / "part", sealed_files.new_key(), "a")
    writer = sealed_files.Writer(file)
    writer.write(content_of(2 * CHUNK))
    with pytest.raises(ChangedFileError):
        file.open("rb")
    writer.close()


FULL = """
import resource, signal, sys
from pathlib import Path
from dpportal.platform.sealed_files import CHUNK, HEAD_BYTES, SEALED_CHUNK, SealedPath, new_key
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (HEAD_BYTES + SEALED_CHUNK + 100,) * 2)
try:
    with SealedPath(Path(sys.argv[1]), new_key(), "x").open("wb") as file:
        file.write(b"a" * (CHUNK + 1000))
except OSError:
    sys.exit(3)
"""


def test_a_disk_that_takes_a_part_only_is_a_fault(tmp_path: Path) -> None:
    """As a full one does of the last piece, without an error of its own."""
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "cut")], check=False)
    assert done.returncode == 3
