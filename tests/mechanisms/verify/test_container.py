"""A zip that two programs could read as two things, or that has a byte more than its files, is refused in words."""

from __future__ import annotations

import io
import stat
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from mechanisms.verify.bundle import Bundle
from mechanisms.verify.checks import verify
from mechanisms.verify.container import check
from mechanisms.verify.finding import State

EARLIER = Path(__file__).parents[2] / "data/histogram_1.0.zip"
CONTENT = b"a,b\n" * 50


def written(path: Path, change: Callable[[zipfile.ZipFile], object] = lambda _: None) -> Path:
    """A zip of two files, and of what the change adds to it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that is there twice
        archive.writestr(plain("folder/release.json"), "{}")
        archive.writestr(plain("folder/a.csv"), CONTENT)
        change(archive)
    return path


def plain(name: str, mode: int = 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (2026, 1, 2, 3, 4, 6))
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, mode << 16
    return info


def with_extra(archive: zipfile.ZipFile) -> None:
    info = plain("folder/b.csv")
    info.extra = struct.pack("<HH", 0x6375, 4) + b"name"
    archive.writestr(info, "")


def with_comment(archive: zipfile.ZipFile) -> None:
    info = plain("folder/b.csv")
    info.comment = b"n = 7"
    archive.writestr(info, "")


def commented(archive: zipfile.ZipFile) -> None:
    archive.comment = b"n = 7"


def member(name: str, mode: int = 0o644) -> Callable[[zipfile.ZipFile], object]:
    return lambda archive: archive.writestr(plain(name, mode), "")


def hidden(archive: zipfile.ZipFile) -> None:
    info = plain("folder/x")
    info.internal_attr = 7
    archive.writestr(info, "")


ODD: dict[str, tuple[Callable[[zipfile.ZipFile], object], str]] = {
    "rights of a program": (member("folder/x", 0o755), "folder/x has attributes that no portal gives"),
    "a number that nobody reads": (hidden, "folder/x has attributes that no portal gives"),
    "a comment": (commented, "it has a comment"),
    "a comment of a file": (with_comment, "folder/b.csv has a comment"),
    "further fields": (with_extra, "folder/b.csv has further fields"),
    "a path upwards": (member("../x"), "../x has a path that leads elsewhere"),
    "an absolute path": (member("/x"), "/x has a path that leads elsewhere"),
    "a path from a dot": (member("./x"), "./x has a path that leads elsewhere"),
    "a path without a name": (member("folder//x"), "has a path that leads elsewhere"),
    "a path of Windows": (member("folder\\x"), "has signs in its name"),
    "a drive": (member("c:x"), "has signs in its name"),
    "an escape": (member("folder/\x1b[2J"), "has signs in its name"),
    "a folder": (member("folder/"), "folder/ is a folder"),
    "deeper": (member("folder/deeper/x"), "has a path that leads elsewhere"),
    "another folder": (member("other/x"), "in several folders"),
    "no folder": (member("x"), "in several folders"),
    "a link": (member("folder/x", stat.S_IFLNK | 0o777), "folder/x is a link"),
    "a device": (member("folder/x", stat.S_IFCHR | 0o644), "folder/x is no plain file"),
    "a name twice": (member("folder/a.csv"), "folder/a.csv is in it more than once"),
    "a name in capitals": (member("folder/A.CSV"), "folder/a.csv is in it more than once"),
}


@pytest.mark.parametrize("change, words", ODD.values(), ids=ODD)
def test_what_a_zip_may_have_and_no_portal_writes_is_refused(tmp_path, change, words):
    found = check(written(tmp_path / "a.zip", change))
    assert found.state is State.FAILED
    assert words in found.details


def test_a_plain_zip_holds(tmp_path):
    assert check(written(tmp_path / "a.zip")).state is State.HOLDS
    with (
        zipfile.ZipFile(tmp_path / "b.zip", "w") as archive,
        archive.open(plain("a.csv"), "w", force_zip64=True) as a,
    ):
        a.write(CONTENT)
    assert check(tmp_path / "b.zip").state is State.HOLDS
    assert check(EARLIER).state is State.HOLDS


def without_end(content: bytes) -> tuple[bytes, bytes, bytes]:
    """Files, list and end of a zip."""
    begin, end = content.index(b"PK\1\2"), content.index(b"PK\5\6")
    return content[:begin], content[begin:end], content[end:]


def after_files(content: bytes) -> bytes:
    files, listed, end = without_end(content)
    return files + b"1234" + listed + end[:16] + struct.pack("<I", len(files) + 4) + end[20:]


def after_content(content: bytes) -> bytes:
    """Four bytes behind the packed content of the last file, which belong to it by both of its sizes."""
    files, listed, end = without_end(content)
    local, central = files.rindex(b"PK\3\4"), listed.rindex(b"PK\1\2")
    size = struct.unpack_from("<I", files, local + 18)[0] + 4
    files = files[: local + 18] + struct.pack("<I", size) + files[local + 22 :] + b"1234"
    listed = listed[: central + 20] + struct.pack("<I", size) + listed[central + 24 :]
    return files + listed + end[:16] + struct.pack("<I", len(files)) + end[20:]


def another_name(content: bytes) -> bytes:
    at = content.index(b"a.csv")
    return content[:at] + b"b.csv" + content[at + 5 :]


def another_number(content: bytes) -> bytes:
    at = content.index(b"PK\5\6")
    return content[: at + 10] + struct.pack("<H", 7) + content[at + 12 :]


def with_longer_end(content: bytes, number: int = 2, size: int = 44, version: int = 45) -> bytes:
    """What ends a zip of more than 4 GiB, before the end of a small one."""
    files, listed, end = without_end(content)
    numbers = (number, number, len(listed), len(files))
    longer = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", size, version, version, 0, 0, *numbers)
    return files + listed + longer + struct.pack("<4sIQI", b"PK\6\7", 0, len(files + listed), 1) + end


BYTES = {
    "before": (lambda content: b"#!/bin/sh\n" + content, "bytes before"),
    "after": (lambda content: content + b"1234", "bytes after"),
    "after the files": (after_files, "bytes after its last file"),
    "after a content": (after_content, "other bytes after its content"),
    "another name inside": (another_name, "has another name inside"),
    "another number of files": (another_number, "another number or place of files"),
    "a longer end that is not needed": (with_longer_end, "bytes after its list of files"),
    "a longer end with another number": (
        lambda content: with_longer_end(content, number=1),
        "bytes after its list of files",
    ),
    "a longer end with a word in it": (
        lambda content: with_longer_end(content, size=int.from_bytes(b"ABCDEFGH", "little")),
        "bytes after its list of files",
    ),
    "a longer end of another version": (
        lambda content: with_longer_end(content, version=0x4142),
        "bytes after its list of files",
    ),
}


@pytest.mark.parametrize("change, words", BYTES.values(), ids=BYTES)
def test_no_byte_stands_beside_the_files(tmp_path, change, words):
    path = written(tmp_path / "a.zip")
    path.write_bytes(change(path.read_bytes()))
    found = check(path)
    assert found.state is State.FAILED
    assert words in found.details


def test_what_is_read_as_two_things_is_not_read_at_all(tmp_path):
    """Of an odd zip nothing further is said, for another program may read other files in it."""
    path = tmp_path / "odd.zip"
    path.write_bytes(EARLIER.read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"n = 7"
    assert [str(each) for each in verify(Bundle.read(path))] == ["     FAILED  zip: it has a comment"]


def test_a_file_that_unpacks_to_more_than_it_says_is_refused_before_it_is_unpacked(tmp_path):
    packing = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    bomb = packing.compress(bytes(64 * 2**20)) + packing.flush()
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(plain("release.json"), "{}")
    files = held.getvalue()[: held.getvalue().index(b"PK\1\2")]
    name = b"a.csv"
    sizes = struct.pack("<IIIHH", 0, len(bomb), 10, len(name), 0)
    local = struct.pack("<4sHHHHH", b"PK\3\4", 20, 0, 8, 0, 33) + sizes + name
    central = struct.pack("<4sHHHHHH", b"PK\1\2", 20, 20, 0, 8, 0, 33) + sizes
    central += struct.pack("<HHHII", 0, 0, 0, 0, len(files)) + name
    first = held.getvalue()[held.getvalue().index(b"PK\1\2") : held.getvalue().index(b"PK\5\6")]
    begin = len(files + local + bomb)
    end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 2, 2, len(first + central), begin, 0)
    (tmp_path / "bomb.zip").write_bytes(files + local + bomb + first + central + end)
    assert "a.csv has other bytes after its content, or is cut" in check(tmp_path / "bomb.zip").details


@pytest.mark.parametrize("sizes", [(1,), (200, 2), (200, 2, 3)])
def test_sizes_in_a_further_field_are_those_of_the_file_and_stand_there_only_if_needed(
    tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    """Of any others a program could make what it likes: they were signed by nobody."""

    def add(archive: zipfile.ZipFile) -> None:
        entry = plain("folder/b.csv")
        entry.extra = struct.pack(f"<HH{len(sizes)}Q", 1, 8 * len(sizes), *sizes)
        archive.writestr(entry, CONTENT)

    assert "further fields" in str(check(written(tmp_path / "odd.zip", add)))


def test_a_file_that_was_written_without_knowing_its_size_is_as_a_portal_writes_it(tmp_path: Path) -> None:
    def add(archive: zipfile.ZipFile) -> None:
        with archive.open(plain("folder/b.csv"), "w", force_zip64=True) as file:
            file.write(CONTENT)

    assert check(written(tmp_path / "long.zip", add)).state is State.HOLDS


@pytest.mark.parametrize("place", [4, 6, 34], ids=["made by", "needed", "disk"])
def test_what_the_list_says_beside_sizes_is_as_a_portal_writes_it(tmp_path: Path, place: int) -> None:
    path = written(tmp_path / "odd.zip")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\1\2") + place] += 7
    path.write_bytes(content)
    assert check(path).state is State.FAILED


def test_what_a_file_says_of_the_version_it_needs_is_as_a_portal_writes_it(tmp_path: Path) -> None:
    path = written(tmp_path / "odd.zip")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\3\4") + 4] = 255
    path.write_bytes(content)
    assert "says of itself what no portal writes" in check(path).details


def test_the_longer_end_of_many_files_is_needed_and_is_compared(tmp_path: Path) -> None:
    """More than the usual end can number."""
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(2**16):
            archive.writestr(plain(f"folder/{number}"), "")
    content = path.read_bytes()
    assert check(path).state is State.HOLDS
    longer = content.rindex(b"PK\6\6")
    for place in (4, 32, 64):  # size of the rest, number of files, place
        path.write_bytes(content[: longer + place] + b"\x07" + content[longer + place + 1 :])
        assert is_refused(path), place


def is_refused(path: Path) -> bool:
    """Whether nothing can open it, or it fails."""
    try:
        return check(path).state is State.FAILED
    except zipfile.BadZipFile:
        return True
