"""How many people have each text: by the rows, the declared reading and the limit of each person alone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpportal.tables import Persons, ReadOptions, ValueTexts
from dpportal.tables.undeclared_values import people_by_value

KEY = b"k" * 32
LONGEST = 20
VALUES = ValueTexts(LONGEST, ("other", "missing"))


def counted(folder: Path, rows: list[tuple[str | None, str | None]], **how) -> dict[str, int]:
    """rows: of town and person."""
    path = folder / "table.parquet"
    towns, persons = zip(*rows, strict=True)
    pq.write_table(
        pa.table({"town": pa.array(towns, pa.string()), "person": pa.array(persons, pa.string())}), path
    )
    batches = list(people_by_value(path, "town", VALUES, how.pop("options", None), **how))
    pairs = [pair for b in batches for pair in zip(b.texts.to_pylist(), b.people.tolist(), strict=True)]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def test_rows_are_people_where_no_column_names_them(tmp_path: Path) -> None:
    rows = [
        ("Ulm", "a"),
        (" Ulm", "a"),
        ("Köln", "b"),
        ("Ko\u0308ln", "c"),
        (None, "d"),
        ("", "e"),
        ("1.50", "f"),
    ]
    assert counted(tmp_path, rows) == {"Ulm": 2, "Köln": 2, "1.50": 1}


def test_people_count_once_a_text(tmp_path: Path) -> None:
    rows = [("Ulm", "a")] * 5 + [("Ulm", "b"), ("Ulm", ""), ("Ulm", None), ("Bonn", "b")]
    assert counted(tmp_path, rows, persons=Persons("person", 3), key=KEY) == {"Ulm": 2, "Bonn": 1}


def test_no_person_has_more_texts_than_declared_and_none_is_preferred(tmp_path: Path) -> None:
    rows = [(f"town {number}", "a") for number in range(10)] + [("Ulm", "b")]
    seen: Counter[str] = Counter()
    for number in range(40):
        found = counted(tmp_path, rows, persons=Persons("person", 2), key=bytes([number]) * 32)
        assert found.pop("Ulm") == 1 and sum(found.values()) == 2
        seen.update(found)
    assert len(seen) == 10


def test_others_rows_have_no_part_in_which_texts_count(tmp_path: Path) -> None:
    """Rows are appended, so that a person's own keep their numbers."""
    own = [(f"town {number}", "a") for number in range(6)]
    alone = counted(tmp_path, own, persons=Persons("person", 3), key=KEY)
    beside = counted(tmp_path, [*own, ("Ulm", "b"), ("Bonn", "c")], persons=Persons("person", 3), key=KEY)
    assert beside == {**alone, "Ulm": 1, "Bonn": 1}


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u2003 ", " OTHER", "Missing "])
def test_blanks_and_the_names_of_cells_for_all_else_are_no_values(tmp_path: Path, blank: str) -> None:
    """Also where spaces around a value count."""
    options = ReadOptions(strip=False)
    rows = [(blank, "a"), ("Ulm", "b"), ("Others", "c")]
    assert counted(tmp_path, rows, options=options) == {"Ulm": 1, "Others": 1}
    assert counted(tmp_path, rows) == {"Ulm": 1, "Others": 1}


@pytest.mark.parametrize("unfit", ["a\tb", "two\nlines", "\x00", "\u2028", "x" * (LONGEST + 1), "\x85"])
def test_texts_that_are_no_values_are_left_out_row_by_row(tmp_path: Path, unfit: str) -> None:
    assert counted(tmp_path, [(f"a{unfit}b", "a"), ("x" * LONGEST, "b")]) == {"x" * LONGEST: 1}


def test_declared_words_for_no_value_are_none(tmp_path: Path) -> None:
    rows = [("Ulm", "a"), ("unknown", "b")]
    assert counted(tmp_path, rows, options=ReadOptions(missing=("unknown",))) == {"Ulm": 1}


def test_persons_need_a_key(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="key"):
        counted(tmp_path, [("Ulm", "a")], persons=Persons("person"))
