"""Tables that are nearly the same look so by their sketches; others do not; without the key nobody can tell."""

from __future__ import annotations

import hashlib
import json
import struct

import duckdb
import numpy as np
import pandas as pd
import pytest

from dpportal.datasets.rawdata import convert, fingerprint
from dpportal.datasets.rawdata.sketch import Likeness, Sample, Sketch, Sketcher, likeness

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
        sketcher.add([column[start : start + batch] for column in digests])
    return sketcher.sketch


OLD = sketched(people(1))


def like(table: pd.DataFrame) -> Likeness:
    return likeness(OLD, sketched(table))


def one_cell_changed() -> pd.DataFrame:
    table = people(1)
    table.loc[77, "age"] = 101
    return table


@pytest.mark.parametrize(
    "table",
    [
        one_cell_changed(),
        people(1).drop(index=5),
        pd.concat([people(1), people(2, 1)]),
        people(1).rename(columns={"age": "years", "name": "zzz"}),
        people(1)[["sex", "income", "name", "age"]],
        people(1).sample(frac=1, random_state=3),
    ],
    ids=["one cell", "a row less", "a row more", "renamed", "columns moved", "rows moved"],
)
def test_a_table_that_was_hardly_changed_shares_nearly_all_rows(table):
    found = like(table)
    assert found.rows >= 0.99 and found.is_close


def test_half_of_a_table_is_all_in_the_whole():
    assert like(people(1).head(ROWS // 2)).rows == 1
    assert like(pd.concat([people(1).head(ROWS // 2), people(2, ROWS // 2)])).rows == pytest.approx(
        0.5, abs=0.08
    )


@pytest.mark.parametrize(
    "table",
    [people(1).assign(number=range(ROWS)), people(1).drop(columns="income"), people(1).assign(income=1)],
    ids=["a column more", "a column less", "a column overwritten"],
)
def test_a_column_more_or_less_changes_all_rows_but_not_the_other_columns(table):
    found = like(table)
    assert found.rows < 0.1 and found.columns == 3 + ("number" in table) and found.is_close


def test_other_people_are_not_alike():
    assert not like(people(2)).is_close
    assert not like(people(2, 300)).is_close
    assert not likeness(sketched(people(2, 300)), OLD).is_close


def test_small_tables_are_compared_exactly():
    table = pd.DataFrame({"a": [1, 1, 1, 2], "b": ["x", "x", "x", "y"]})
    other = pd.DataFrame({"a": [1, 1, 2, 2], "b": ["x", "x", "y", "y"]})
    assert likeness(sketched(table), sketched(other)).rows == 3 / 4
    assert likeness(sketched(table), sketched(table)) == Likeness(1.0, 2, 2)


def test_under_another_key_nothing_is_alike():
    assert not likeness(OLD, sketched(people(1), b"l" * 32)).is_close


def test_a_sketch_is_the_same_however_rows_are_batched_and_survives_its_bytes():
    whole = sketched(people(1), batch=ROWS)
    assert whole.to_bytes() == OLD.to_bytes() == Sketch.from_bytes(OLD.to_bytes()).to_bytes()
    small = sketched(people(1, 3))
    assert len(small.to_bytes()) == len(OLD.to_bytes())
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
def test_the_reader_sketches_what_it_stores_and_its_digest_is_what_it_always_was(tmp_path):
    people(1, 3000).to_csv(tmp_path / "upload", index=False)
    plain = convert(tmp_path / "upload", tmp_path / "t.parquet", "t.csv")
    facts = convert(tmp_path / "upload", tmp_path / "t.parquet", "t.csv", sketch_key=KEY)
    assert plain.sketch == b"" and plain.content_digest == facts.content_digest
    changed = people(1, 3000).sample(frac=1, random_state=1).rename(columns={"age": "z"})
    changed.to_excel(tmp_path / "upload", index=False, engine="openpyxl")
    other = convert(tmp_path / "upload", tmp_path / "u.parquet", "t.xlsx", sketch_key=KEY)
    assert likeness(Sketch.from_bytes(facts.sketch), Sketch.from_bytes(other.sketch)) == Likeness(1.0, 4, 4)
    with duckdb.connect() as connection:
        assert facts.content_digest == digest_by_one_query(connection, tmp_path / "t.parquet")


def test_a_sketch_and_a_number_s_text_are_what_they_always_were(tmp_path):
    """Of columns of few texts, which are read once, and of many, some written as no number is written."""
    draw = np.random.default_rng(2)
    numbers = draw.normal(0, [[0.0005], [0.5], [1e6]], (3, 1000)).ravel().tolist()
    many = [f"{number:.{places}f}" for number, places in zip(numbers, [12, 9, 4, 2, 1, 0] * 500, strict=True)]
    many = [text if float(text) else "0.0" for text in many]
    few = [str(number) for number in draw.integers(0, 30, 3000)]
    pd.DataFrame({"few": few, "many": many}).to_csv(tmp_path / "upload", index=False)
    facts = convert(tmp_path / "upload", tmp_path / "t.parquet", "t.csv", sketch_key=KEY)
    with duckdb.connect() as connection:
        query = "SELECT CASE WHEN n = floor(n) THEN n::BIGINT::VARCHAR ELSE n::VARCHAR END FROM (SELECT unnest(?) AS n)"
        written = [text for (text,) in connection.execute(query, [list(map(float, many))]).fetchall()]
    assert len(set(written) & set(many)) > 1000 and len(set(written) - set(many)) > 300
    digests = [
        np.array(
            [int.from_bytes(hashlib.md5(text.encode()).digest()[8:], "little") for text in texts], np.uint64
        )
        for texts in (few, written)
    ]
    sketcher = Sketcher(KEY, 2)
    sketcher.add(digests)
    assert facts.sketch == sketcher.sketch.to_bytes()
    rows = ["\x1f".join(row).encode() for row in zip(few, written, strict=True)]
    halves = zip(*(struct.unpack("<QQ", hashlib.md5(row).digest()) for row in rows), strict=True)
    content = json.dumps([["few", "many"], "3000", *(str(sum(half)) for half in halves)])
    assert facts.content_digest == hashlib.sha256(content.encode()).hexdigest()


def digest_by_one_query(connection: duckdb.DuckDBPyConnection, path) -> str:
    """As fingerprints were made before there were sketches: they must stay what they are."""
    from dpportal.datasets.rawdata.engine import parquet
    from dpportal.datasets.rawdata.layout import layout

    columns = layout(connection, path)
    names = sorted(columns)
    fields = ", ".join(f"coalesce({fingerprint.canonical_text(columns[name])}, chr(0))" for name in names)
    query = f"""
        SELECT count(*), sum((digest & {2**64 - 1}::UHUGEINT)::UBIGINT), sum((digest >> 64)::UBIGINT)
        FROM (SELECT md5_number(concat_ws(chr(31), {fields}))::UHUGEINT AS digest FROM {parquet(path)})
    """
    [sums] = connection.execute(query).fetchall()
    return hashlib.sha256(json.dumps([names, *map(str, sums)]).encode()).hexdigest()
