"""A thief has a copy of the data folder, and not the master key beside it: nothing is read, and no guess is confirmed.

The thief knows the table, or guesses it, and looks for what shows that the guess is right: its values, digests of it
with and without any text of the copy for a key, its exact size, its number of rows.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from dpportal.platform.sealed_files import HEAD_BYTES, SEALED_CHUNK
from tests.dpportal.used_portal import MORE_ROWS, NAME, ROWS, table
from tests.dpportal.world import embedded

pytestmark = pytest.mark.slow

# A text that could be a key.
KEY = re.compile(rb"[A-Za-z0-9_+/=-]{40,200}")
# Of counts of the table: all rows, those of a colour and of a town, and the sizes of the files.
NUMBERS = {ROWS, ROWS // 2, ROWS - ROWS // 2, MORE_ROWS, len(table(ROWS)), len(table(MORE_ROWS))}
# Not within a moment's digits, or a random name's.
TOLD = re.compile(r"(?<![\w.])(" + "|".join(f"{n}|{n:,}" for n in sorted(NUMBERS)) + r")(?!\w)")


@dataclass(frozen=True)
class Copy:
    """What the thief has, and, to see that the search finds something, what was there in truth."""

    folder: Path
    truth: dict

    def files(self) -> Iterator[bytes]:
        yield from (path.read_bytes() for path in self.folder.rglob("*") if path.is_file())

    def values(self) -> Iterator[bytes]:
        """Every value of every column of the database."""
        with closing(sqlite3.connect(self.folder / "portal.sqlite3")) as database:
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for row in database.execute(f'SELECT * FROM "{name}"'):
                    yield from (value if isinstance(value, bytes) else str(value).encode() for value in row)

    def everything(self) -> bytes:
        names = "\n".join(str(path) for path in self.folder.rglob("*"))
        return b"\n".join([*self.files(), names.encode()])


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Iterator[Copy]:
    folder = tmp_path_factory.mktemp("used")
    with embedded(folder) as world:
        truth = json.loads(world.run("-W", "ignore", "-m", "tests.dpportal.used_portal"))
        assert truth["states"] == ["done", 1, "done"]
        stolen = tmp_path_factory.mktemp("stolen") / "data"
        shutil.copytree(folder / "data", stolen)
        yield Copy(stolen, truth)


def guesses(truth: dict) -> list[bytes]:
    """What somebody could work out who has guessed the table: the content that is fingerprinted, the files, numbers."""
    contents = [content.encode() for content in truth["contents"]]
    files = [table(ROWS), table(MORE_ROWS)]
    digests = [hashlib.sha256(file).hexdigest().encode() for file in files]
    return [
        *contents,
        *files,
        *digests,
        *(str(n).encode() for n in NUMBERS),
        json.dumps(truth["request"]).encode(),
    ]


def digests(content: bytes, key: bytes | None = None) -> Iterator[bytes]:
    """In every form in which one could be stored."""
    for name in ("sha256", "sha1", "md5", "sha512", "blake2b"):
        digest = hmac.digest(key, content, name) if key is not None else hashlib.new(name, content).digest()
        yield from (digest, digest.hex().encode(), base64.b64encode(digest))


def candidates(copy: Copy) -> set[bytes]:
    """Everything in the copy that could be a key: lines of the key files, and texts of the database."""
    texts = [path.read_bytes() for path in (copy.folder / "keys").iterdir()]
    return {key for text in [*texts, *copy.values()] for key in KEY.findall(text)} | set(texts)


def test_no_value_of_a_table_and_no_secret_is_in_it(copy: Copy) -> None:
    everything = copy.everything()
    assert copy.truth["fingerprint"].encode() in everything
    for text in [NAME, *copy.truth["secrets"]]:
        for found in (text.encode(), text.encode("utf-16-le"), base64.b64encode(text.encode())):
            assert found not in everything, text


def test_no_digest_confirms_a_guess_of_a_table(copy: Copy) -> None:
    everything = copy.everything()
    right = hmac.digest(copy.truth["fingerprint_key"].encode(), copy.truth["contents"][0].encode(), "sha256")
    assert (
        right.hex().encode() in everything
    )  # so the key would confirm it, and the search finds what there is
    for guess in guesses(copy.truth):
        assert not [digest for digest in digests(guess) if digest in everything], guess[:60]


def test_no_text_of_the_copy_is_the_key_of_a_digest(copy: Copy) -> None:
    stored = {value for value in copy.values() if 16 <= len(value) <= 128}
    keys = candidates(copy)
    assert len(keys) > 20
    short = [guess for guess in guesses(copy.truth) if len(guess) < 1000]
    found = [(key, guess) for key in keys for guess in short if stored.intersection(digests(guess, key))]
    assert found == []


def test_no_number_of_rows_and_no_exact_size_is_in_it(copy: Copy) -> None:
    assert not [value for value in copy.values() if TOLD.search(value.decode("latin-1"))]
    for path in (copy.folder / "files" / "records").rglob("*"):
        if path.is_file():
            assert (path.stat().st_size - HEAD_BYTES) % SEALED_CHUNK == 0, path.name
    assert not NUMBERS & {path.stat().st_size for path in copy.folder.rglob("*")}


def test_of_columns_only_their_names_are_known(copy: Copy) -> None:
    """Which seem to name people, and what the first rows look like, is sealed."""
    with closing(sqlite3.connect(copy.folder / "portal.sqlite3")) as database:
        [(columns,)] = database.execute("SELECT columns FROM datasets_dataset").fetchall()
    assert json.loads(columns) == [{"name": name} for name in ("colour", "age", "town", "name")]
