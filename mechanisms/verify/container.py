"""Whether the zip itself is what a portal writes: its members once each, one right after the other, and no byte beside.

Two programs must not read two things in one file. So what a zip may have, and no portal writes, is refused: comments,
bytes before, between and after, odd paths, links, folders, passwords, further fields.

Source: APPNOTE.TXT 6.3.10, .ZIP File Format Specification, PKWARE.
"""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from mechanisms.verify.finding import Finding, printable

WHAT = "zip"
# Of a member: 30 bytes, name, further fields, content; of the list 46 bytes and the same texts; and what ends it.
_LOCAL, _CENTRAL, _END = b"PK\3\4", b"PK\1\2", b"PK\5\6"
_END_64, _PLACE_64 = b"PK\6\6", b"PK\6\7"
_LOCAL_SIZE, _CENTRAL_SIZE, _END_SIZE = 30, 46, 22
# The only further field that is written: sizes beyond 4 GiB, for which the usual places have the greatest number.
_ZIP64, _MOST, _MOST_FILES = 1, 0xFFFFFFFF, 0xFFFF
# Up to here sizes and places stand where they usually do in the list.
_USUAL = 2**31 - 1
_UTF8_NAMES = 0x800
# Of the format, that a member was written by and needs: deflation, sizes beyond 4 GiB.
_VERSIONS = {20, 45}
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_FOLDER = 0x10
# A file that its owner writes and everybody reads, as Unix notes it.
_UNIX, _ATTRIBUTES = 3, 0o644 << 16
_BLOCK = 1 << 20
_NOT_IN_NAMES = set('\\:*?"<>|')


def check(path: Path) -> Finding:
    """Read the zip once, without unpacking it. Raises BadZipFile for what is none."""
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        infos = archive.infolist()
        fault = (
            next(_odd_paths(infos), "") or next(faults(archive, file), "") or next(_odd_attributes(infos), "")
        )
    return Finding.of(WHAT, fault, f"{len(infos)} files once each, and nothing beside them")


def _odd_paths(infos: list[zipfile.ZipInfo]) -> Iterator[str]:
    for info in infos:
        if fault := _odd_path(info.orig_filename):
            yield f"{_shown(info.orig_filename)} {fault}"
    if len({info.filename.rpartition("/")[0] for info in infos}) > 1:
        yield "its files are in several folders"


def _odd_attributes(infos: list[zipfile.ZipInfo]) -> Iterator[str]:
    for info in infos:
        if (info.create_system, info.external_attr, info.internal_attr) != (_UNIX, _ATTRIBUTES, 0):
            yield f"{_shown(info.orig_filename)} has attributes that no portal gives"


def faults(archive: zipfile.ZipFile, file: IO[bytes]) -> Iterator[str]:
    """What any zip has that no portal writes, whatever its paths are. file: the archive's own."""
    infos = archive.infolist()
    if archive.comment:
        yield "it has a comment"
    for info in infos:
        if fault := _odd_member(info):
            yield f"{_shown(info.orig_filename)} {fault}"
    names = Counter(info.filename.casefold() for info in infos)
    if (twice := names.most_common(1)) and twice[0][1] > 1:
        yield f"{_shown(twice[0][0])} is in it more than once"
    yield from _faults_of_layout(archive, infos, file)


def _odd_path(name: str) -> str:
    """A plain path is a name, or a folder and a name."""
    if name.endswith("/"):
        return "is a folder"
    parts = name.split("/")
    if name.startswith("/") or len(parts) > 2 or any(not part.strip(". ") for part in parts):
        return "has a path that leads elsewhere"
    if any(sign in _NOT_IN_NAMES or not sign.isprintable() for sign in name):
        return "has signs in its name that no portal writes"
    return ""


def _odd_member(info: zipfile.ZipInfo) -> str:
    mode = info.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "is a link to another file"
    if (stat.S_IFMT(mode) not in (0, stat.S_IFREG)) or info.external_attr & _FOLDER:
        return "is no plain file"
    if info.flag_bits & ~_UTF8_NAMES or info.compress_type not in _METHODS:
        return "is packed in a way that no portal uses"
    if info.comment:
        return "has a comment"
    if (info.volume, info.reserved) != (0, 0) or not {info.create_version, info.extract_version} <= _VERSIONS:
        return "says of itself what no portal writes"
    large = [info.file_size, info.compress_size] if max(info.file_size, info.compress_size) > _USUAL else []
    large += [info.header_offset] if info.header_offset > _USUAL else []
    return "" if info.extra == (_sizes(*large) if large else b"") else "has further fields"


def _sizes(*sizes: int) -> bytes:
    """The further field of sizes that may be beyond 4 GiB."""
    return struct.pack(f"<HH{len(sizes)}Q", _ZIP64, 8 * len(sizes), *sizes)


def _faults_of_layout(
    archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo], file: IO[bytes]
) -> Iterator[str]:
    """Every byte of the file belongs to a member, to the list of them, or to its end."""
    at = 0
    for info in sorted(infos, key=lambda each: each.header_offset):
        if info.header_offset != at:
            apart = "there are bytes before" if info.header_offset > at else "another file overlaps"
            yield f"{apart} {_shown(info.filename)}"
            return
        file.seek(at)
        head = file.read(_LOCAL_SIZE)
        if len(head) < _LOCAL_SIZE or head[:4] != _LOCAL:
            yield f"{_shown(info.filename)} is not where the list says"
            return
        name_size, extra_size = struct.unpack_from("<HH", head, 26)
        name, extra = file.read(name_size), file.read(extra_size)
        if fault := _other_head(info, head, name, extra) or _fault_of_content(info, file):
            yield f"{_shown(info.filename)} {fault}"
            return
        at += _LOCAL_SIZE + name_size + extra_size + info.compress_size
    yield from _faults_of_end(archive, infos, file, at)


def _fault_of_content(info: zipfile.ZipInfo, file: IO[bytes]) -> str:
    """What is packed ends where the list says, and unpacks to as much as the list says."""
    if info.compress_type == zipfile.ZIP_STORED:
        return "" if info.file_size == info.compress_size else "has another size than the list says"
    unpacking, left, size = zlib.decompressobj(-zlib.MAX_WBITS), info.compress_size, 0
    while left and not unpacking.eof and size <= info.file_size:
        block = file.read(min(left, _BLOCK))
        if not block:
            break
        left -= len(block)
        while block and size <= info.file_size:
            size += len(unpacking.decompress(block, _BLOCK))
            block = unpacking.unconsumed_tail
    if left or unpacking.unused_data or not unpacking.eof:
        return "has other bytes after its content, or is cut"
    return "" if size == info.file_size else "has another size than the list says"


def _other_head(info: zipfile.ZipInfo, head: bytes, name: bytes, extra: bytes) -> str:
    """What a member says of itself, and the list says otherwise."""
    needed, flags, method, _time, _day, crc, packed, size = struct.unpack_from("<HHHHHIII", head, 4)
    encoding = "utf-8" if info.flag_bits & _UTF8_NAMES else "cp437"
    if name != info.orig_filename.encode(encoding, "replace"):
        return "has another name inside"
    if needed not in _VERSIONS:
        return "says of itself what no portal writes"
    if extra not in (b"", _sizes(info.file_size, info.compress_size)):
        return "has further fields"
    if extra:
        large = (info.file_size, info.compress_size)
        size, packed = (
            full if short == _MOST else short for short, full in zip((size, packed), large, strict=True)
        )
    own = (flags, method, crc, packed, size)
    listed = (info.flag_bits, info.compress_type, info.CRC, info.compress_size, info.file_size)
    return "" if own == listed else "says other sizes or another checksum of itself than the list"


def _faults_of_end(
    archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo], file: IO[bytes], begin: int
) -> Iterator[str]:
    """The list follows at once, and its end is the file's."""
    if archive.start_dir != begin:
        yield "there are bytes after its last file"
        return
    at = begin
    for _info in infos:
        file.seek(at)
        head = file.read(_CENTRAL_SIZE)
        if head[:4] != _CENTRAL:
            yield "its list of files has other bytes in it"
            return
        at += _CENTRAL_SIZE + sum(struct.unpack_from("<HHH", head, 28))
    total, own = file.seek(0, 2), _end(len(infos), begin, at)
    file.seek(max(at, total - len(own)))
    end = file.read()
    if end[-_END_SIZE:][:4] != _END:
        yield "there are bytes after its end"
    elif total - at != len(own):
        yield "there are bytes after its list of files"
    elif end != own:
        yield "its end says another number or place of files"


def _end(number: int, begin: int, end: int) -> bytes:
    """What ends a zip whose list of files lies between these places, byte for byte.

    A longer end stands before the usual one only where that has no room: of two ends, each program reads the one that
    it likes.
    """
    size, longer = end - begin, b""
    if number > _MOST_FILES or max(size, begin) > _USUAL:
        versions, disks, numbers = (45, 45), (0, 0), (number, number)
        longer = struct.pack("<4sQHHIIQQQQ", _END_64, 44, *versions, *disks, *numbers, size, begin)
        longer += struct.pack("<4sIQI", _PLACE_64, 0, end, 1)
    numbers = (min(number, _MOST_FILES),) * 2
    return longer + struct.pack("<4sHHHHIIH", _END, 0, 0, *numbers, min(size, _MOST), min(begin, _MOST), 0)


def _shown(name: str) -> str:
    """A name that somebody else has chosen, cut and without signs that steer a terminal."""
    return printable(name[:80])
