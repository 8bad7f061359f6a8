"""Tables that are nearly the same look so by their sketches; others do not; without the key nobody can tell."""

from __future__ import annotations

import hashlib
import json
import re
import struct
from functools import cache

import numpy as np
import pandas as pd
import pytest

from dpportal.tables import ImportContext, convert
from dpportal.tables.meaning.number_syntax import PLAIN_NUMBER
from dpportal.tables.similarity.field_digests import Fields
from dpportal.tables.similarity.sketch import Likeness, Sample, Sketch, Sketcher, likeness

KEY = b"k" * 32
ROWS = 20_000


def people(seed: int, rows: int = ROWS) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "name": [f"{seed}-{number}" for number in range(rows)],
            "age": draw.integers(0, 100, rows),
            "sex": draw.choice(["m", "f"], rows),
            "income": draw.integers(0, 10**6, rows),
        }
    )


def sketched(table: pd.DataFrame, key: bytes = KEY, batch: int = 7_000) -> Sketch:
    """As the reader does it: a digest of each field, rows in batches."""
    digests = [
        np.array([int.from_bytes(hashlib.md5(str(v).encode()).digest()[:8]) for v in table[name]], np.uint64)
        for name in table
    ]
    sketcher = Sketcher(key, len(digests))
    for start in range(0, len(table), batch):
        sketcher.add([Fields(column[start : start + batch]) for column in digests])
    return sketcher.sketch


@cache
def old() -> Sketch:
    return sketched(people(1))


def like(table: pd.DataFrame) -> Likeness:
    return likeness(old(), sketched(table))


def one_cell_changed(table: pd.DataFrame) -> pd.DataFrame:
    table.loc[77, "age"] = 101
    return table


@pytest.mark.parametrize(
    "change",
    [
        one_cell_changed,
        lambda table: table.drop(index=5),
        lambda table: pd.concat([table, people(2, 1)]),
        lambda table: table.rename(columns={"age": "years", "name": "zzz"}),
        lambda table: table[["sex", "income", "name", "age"]],
        lambda table: table.sample(frac=1, random_state=3),
    ],
    ids=["one cell", "a row less", "a row more", "renamed", "columns moved", "rows moved"],
)
def test_a_table_that_was_hardly_changed_shares_nearly_all_rows(change):
    found = like(change(people(1)))
    assert found.rows >= 0.99 and found.is_close


@pytest.mark.slow
def test_half_of_a_table_is_all_in_the_whole():
    assert like(people(1).head(ROWS // 2)).rows == 1
    assert like(pd.concat([people(1).head(ROWS // 2), people(2, ROWS // 2)])).rows == pytest.approx(
        0.5, abs=0.08
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.assign(number=range(ROWS)),
        lambda table: table.drop(columns="income"),
        lambda table: table.assign(income=1),
    ],
    ids=["a column more", "a column less", "a column overwritten"],
)
def test_a_column_more_or_less_changes_all_rows_but_not_the_other_columns(change):
    table = change(people(1))
    found = like(table)
    assert found.rows < 0.1 and found.columns == 3 + ("number" in table) and found.is_close


def test_other_people_are_not_alike():
    assert not like(people(2)).is_close
    assert not like(people(2, 300)).is_close
    assert not likeness(sketched(people(2, 300)), old()).is_close


def test_small_tables_are_compared_exactly():
    table = pd.DataFrame({"a": [1, 1, 1, 2], "b": ["x", "x", "x", "y"]})
    other = pd.DataFrame({"a": [1, 1, 2, 2], "b": ["x", "x", "y", "y"]})
    assert likeness(sketched(table), sketched(other)).rows == 3 / 4
    assert likeness(sketched(table), sketched(table)) == Likeness(1.0, 2, 2)


def test_under_another_key_nothing_is_alike():
    assert not likeness(old(), sketched(people(1), b"l" * 32)).is_close


def test_a_sketch_is_the_same_however_rows_are_batched_and_survives_its_bytes():
    whole = sketched(people(1), batch=ROWS)
    assert whole.to_bytes() == old().to_bytes() == Sketch.from_bytes(old().to_bytes()).to_bytes()
    small = sketched(people(1, 3))
    assert len(small.to_bytes()) == len(old().to_bytes())
    assert likeness(small, Sketch.from_bytes(small.to_bytes())) == Likeness(1.0, 4, 4)


def test_a_sample_counts_every_occurrence_of_what_it_keeps():
    draw = np.random.default_rng(1)
    numbers = draw.integers(0, 1000, 50_000).astype(np.uint64) * np.uint64(2**50)
    sample = Sample(64)
    for part in np.array_split(numbers, 17):
        sample.add(part)
    found, counts = np.unique(numbers, return_counts=True)
    assert sample.numbers.tolist() == found[:64].tolist()
    assert sample.counts.tolist() == counts[:64].tolist()


@pytest.mark.slow
def test_a_table_has_one_sketch_in_every_form_with_or_without_which_its_digest_is_the_same(tmp_path):
    people(1, 3000).to_csv(tmp_path / "upload", index=False)
    plain = convert(tmp_path / "upload", tmp_path / "t.parquet", "t.csv")
    facts = convert(
        tmp_path / "upload", tmp_path / "t.parquet", "t.csv", context=ImportContext(sketch_key=KEY)
    )
    assert plain.sketch == b"" and plain.content_digest == facts.content_digest
    changed = people(1, 3000).sample(frac=1, random_state=1).rename(columns={"age": "z"})
    changed.to_excel(tmp_path / "upload", index=False, engine="openpyxl")
    other = convert(
        tmp_path / "upload", tmp_path / "u.parquet", "t.xlsx", context=ImportContext(sketch_key=KEY)
    )
    assert likeness(Sketch.from_bytes(facts.sketch), Sketch.from_bytes(other.sketch)) == Likeness(1.0, 4, 4)


def mixed(word: int) -> int:
    """By whole numbers of Python."""
    word ^= word >> 32
    for _ in range(2):
        word = word * 0xD6E8FEB86659FD93 % 2**64
        word ^= word >> 32
    return word


def field_digest(text: str) -> int:
    if re.fullmatch(PLAIN_NUMBER, text):
        return mixed(struct.unpack("<Q", struct.pack("<d", float(text) + 0.0))[0])
    word = text.strip(" ")
    word = word.lower() if word.lower() in ("true", "false") else word
    return int.from_bytes(hashlib.md5((word or "\0").encode()).digest()[8:], "little")


@pytest.mark.slow
@pytest.mark.parametrize("rows", [3000, 30_000])
def test_sketch_and_digest_are_what_every_later_version_must_make(tmp_path, rows):
    """Of columns of few texts, which are worked out once, and of many, some written as no number is written."""
    draw = np.random.default_rng(2)
    numbers = draw.normal(0, [[0.0005], [0.5], [1e6]], (3, rows // 3)).ravel().tolist()
    places = [12, 9, 4, 2, 1, 0] * (rows // 6)
    table = pd.DataFrame(
        {
            "few": draw.integers(0, 30, rows).astype(str),
            "many": [f"{number:.{places}f}" for number, places in zip(numbers, places, strict=True)],
            "word": [f" {word}" for word in draw.choice(["TRUE", "false", "é", "7", ""], rows)],
            "words": [f"w{number}" if number % 3 else str(number) for number in range(rows)],
        }
    )
    table.to_csv(tmp_path / "upload", index=False)
    facts = convert(
        tmp_path / "upload", tmp_path / "t.parquet", "t.csv", context=ImportContext(sketch_key=KEY)
    )
    assert [column.kind for column in facts.columns] == ["integer", "real", "text", "text"]
    texts = {name: [text.removeprefix(" ") for text in table[name]] for name in table}
    digests = [[field_digest(text) for text in column] for column in texts.values()]
    sketcher = Sketcher(KEY, 4)
    sketcher.add([Fields(np.array(column, np.uint64)) for column in digests])
    assert facts.sketch == sketcher.sketch.to_bytes()
    factors = [mixed(place) | 1 for place in (1, 2, 3, 4)]
    sums = (
        sum(d * f for d, f in zip(row, factors, strict=True)) % 2**64 for row in zip(*digests, strict=True)
    )
    content = json.dumps(["mixed fields 2", list(texts), str(rows), str(sum(map(mixed, sums)))])
    assert facts.content_digest == hashlib.sha256(content.encode()).hexdigest()
