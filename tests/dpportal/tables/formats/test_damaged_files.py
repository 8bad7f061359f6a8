"""Small files of every format, cut and changed at random places: each is a table or a refusal in words, and soon."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import signal
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pyarrow as pa
import pytest

from dpportal.tables import Limits, ReadOptions
from dpportal.tables.formats import FORMATS, Reading
from dpportal.tables.formats.import_worker import _as_fault, convert_here
from tests.dpportal.tables.formats.small_files import file_of
from tests.dpportal.tables.formats.test_feather import written

pytestmark = pytest.mark.slow
SECRET = "Ottilie-Quendel"
ROWS = [(number, f"{SECRET}-{number % 5}", number / 7) for number in range(60)]
TABLE = pa.table({"age": [r[0] for r in ROWS], "name": [r[1] for r in ROWS], "share": [r[2] for r in ROWS]})
TEXT = "age,name,share\n" + "".join(f'{a},"{b}",{c}\n' for a, b, c in ROWS)
# Of each format, in so many parts, of which a gate runs some.
CUTS, CHANGES, PARTS, SECONDS = 50, 200, 5, 10


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.csv", TEXT)
    return file.getvalue()


FILES = {
    **{f"t{known.endings[0]}": partial(file_of, known, TABLE) for known in FORMATS},
    "t.tsv": TEXT.replace(",", "\t").encode,
    "t.txt": lambda: TEXT.replace(",", ";").encode("utf-16"),
    "lz4.arrow": lambda: written(TABLE, "lz4"),
    "t.jsonl": lambda: b'{"age": 1}\n' * 30,
    "t.csv.gz": lambda: gzip.compress(TEXT.encode()),
    "t.csv.bz2": lambda: bz2.compress(TEXT.encode()),
    "t.csv.xz": lambda: lzma.compress(TEXT.encode()),
    "t.zip": zipped,
}


def damaged(content: bytes, draw: random.Random) -> Iterator[bytes]:
    """The file cut, then with some of its bytes changed."""
    for _ in range(CUTS // PARTS):
        yield content[: draw.randrange(len(content))]
    for _ in range(CHANGES // PARTS):
        changed = bytearray(content)
        for _ in range(draw.choice((1, 1, 3, 10))):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        yield bytes(changed)


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what takes longer."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def refusal_of(reading: Reading) -> str:
    """What a curator reads of a file that is refused; empty for one that is a table."""
    try:
        with at_most(SECONDS):
            convert_here(reading)
    except TimeoutError:
        raise
    except Exception as error:
        return _as_fault(error, reading.limits).message
    return ""


@pytest.mark.sampled
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_a_table_or_is_refused_soon_without_a_value(tmp_path, name, part):
    content, draw = FILES[name](), random.Random(f"{name} {part}")
    said = []
    for number, each in enumerate(damaged(content, draw)):
        (tmp_path / "upload").write_bytes(each)
        reading = Reading(
            tmp_path / "upload", tmp_path / "table", name, ReadOptions(), Limits(), lambda share: None
        )
        said.append(refusal_of(reading))
        assert not any(word in said[-1] for word in SECRET.split("-")), number
    assert len(said) == (CUTS + CHANGES) // PARTS
    # Of lines of text, whatever they are, a table can be made.
    assert any(said) or name.endswith(("csv", "tsv", "txt", "jsonl"))
