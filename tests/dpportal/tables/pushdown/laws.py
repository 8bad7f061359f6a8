"""What holds for the people of a table in whatever engine, and for the numbers that tell how it fits."""

from __future__ import annotations

import math
import sys
import unicodedata

import numpy as np

from dpportal.tables import Persons, ReadOptions, fit_table
from dpportal.tables.pushdown.count_query import QuerySource
from dpportal.tables.pushdown.dialects import FEW_EDGES
from dpportal.tables.pushdown.fit_queries import REASONS, reasons_statement, rows_statement
from dpportal.tables.pushdown.types import TYPES
from mechanisms.domain import Attribute, Boolean, Domain, Integer, Real
from tests.dpportal.tables.pushdown import twins
from tests.dpportal.tables.pushdown.twins import Twin, both
from tests.dpportal.tables.test_fit import DOMAIN, NAMES, OPTIONS, ROWS

DIGIT = Domain((Integer("x", lower=0, upper=9),))
PEOPLE = [
    "Ann",
    "ann ",
    " ANN",
    "ann\u00a0",
    "Ἀθήνα",
    "ἀθήνα",
    "Straße",
    "STRASSE",
    "ÇA",
    "c\u0327a",
    "",
    " ",
    None,
    "7",
    "007",
]


def every_letter() -> list[str]:
    """A person for each letter that has another form, and one for that form."""
    letters = (chr(code) for code in range(1, sys.maxunicode + 1) if not 0xD800 <= code < 0xE000)
    changed = [c for c in letters if c not in "İΣ" and (c.lower() != c or c.upper() != c)]
    return [
        name for c in changed for name in (c, c.lower(), c.upper()) if unicodedata.is_normalized("NFC", name)
    ]


def persons_are_the_same(twin: Twin, folder, ignore_case: bool, people=PEOPLE, most=(1,)) -> None:
    """With as many rows of each as there are of the most frequent but one, what counts tells who is one person."""
    columns = {"who": ("text", people), "x": ("int4", ["1"] * len(people))}
    for rows in most:
        persons = Persons("who", rows, ignore_case)
        theirs, ours = both(twin, folder, columns, DIGIT, ReadOptions(), persons=persons)
        assert theirs == ours


def rows_that_name_nobody_are_left_out(twin: Twin, draws: int = 4, limits=(1, 2)) -> None:
    """Whatever the engine draws: nobody's rows are in no cell, and a person's own rows are as without them."""
    people = ["a", "a", "", " ", None, "-", "b", "b"]
    columns = {"who": ("text", people), "x": ("int4", [str(i) for i in range(len(people))])}
    options = ReadOptions(missing=("-",))
    twin.fill(columns)
    for most in limits:
        for _again in range(draws):
            found = twin.counts(columns, DIGIT, [("x",)], options, Persons("who", most))
            assert (found[:2].sum(), found[2:6].sum(), found[6:].sum()) == (most, 0, most)
    columns = {"who": ("int4", ["7", None, "7", "-9"]), "x": ("int4", ["0", "1", "2", "3"])}
    twin.fill(columns)
    found = twin.counts(columns, DIGIT, [("x",)], ReadOptions(missing=("-9",)), Persons("who", 2))
    assert found[:5].tolist() == [1, 0, 1, 0, 0]
    written = {"text": ["NA", "NA ", "NaN", "NULL", "7"], "float8": ["nan", "nan", "NaN", None, "7"]}
    for kind, people in written.items():
        columns = {"who": (kind, people), "x": ("int4", [str(i) for i in range(len(people))])}
        twin.fill(columns)
        found = twin.counts(columns, DIGIT, [("x",)], ReadOptions(), Persons("who"))
        assert found[:5].tolist() == [0, 0, 0, 0, 1], kind
    for kind, nobody, somebody in (
        ("float8", "-9.5", "7"),
        ("numeric", "-9.5", "7"),
        ("date", "1900-01-01", "2020-01-01"),
    ):
        columns = {"who": (kind, [nobody, nobody, somebody]), "x": ("int4", ["0", "1", "2"])}
        twin.fill(columns)
        found = twin.counts(columns, DIGIT, [("x",)], ReadOptions(missing=(nobody,)), Persons("who"))
        assert found[:3].tolist() == [0, 0, 1], kind


def as_many_rows_as_declared_count_the_same_in_every_table(
    twin: Twin, draws: int = 1
) -> set[tuple[int, ...]]:
    """Three of ten rows of each of seven persons. Gives what was drawn."""
    people = [f"p{i % 7}" for i in range(70)]
    columns = {"who": ("text", people), "x": ("int4", [str(i % 10) for i in range(70)])}
    columns |= {"y": ("int4", [str(i % 10) for i in range(70)]), "z": ("bool", ["true"] * 69 + [None])}
    domain = Domain((*DIGIT.attributes, Integer("y", lower=0, upper=9), Boolean("z", closed=True)))
    twin.fill(columns)
    drawn = set()
    for _again in range(draws):
        found = twin.counts(columns, domain, [("x",), ("y",), ("x", "y")], ReadOptions(), Persons("who", 3))
        x, y, both_of = found[:10], found[10:20], found[20:].reshape(10, 10)
        assert x.sum() == 21 and (x == y).all() and (both_of.diagonal() == x).all()
        drawn.add(tuple(x))
    return drawn


def each_row_counts_equally_often(twin: Twin) -> None:
    """Of 10 rows of a person 3 count: each row in 3 of 10 draws, within 5 standard errors over 2000 persons."""
    columns = {
        "who": ("int4", [str(i // 10) for i in range(20_000)]),
        "x": ("int4", [str(i % 10) for i in range(20_000)]),
    }
    twin.fill(columns)
    found = twin.counts(columns, DIGIT, [("x",)], ReadOptions(), Persons("who", 3))
    assert found.sum() == 6000 and np.abs(found - 600).max() < 5 * (2000 * 0.3 * 0.7) ** 0.5


def each_number_of_the_fit_is_that_of_an_upload(twin: Twin, folder, persons: Persons | None) -> None:
    values = zip(*ROWS, strict=True)
    columns = {name: ("text", list(texts)) for name, texts in zip(NAMES, values, strict=True)}
    theirs = fit_table(twins.stored(folder, columns), DOMAIN, OPTIONS, persons)
    twin.fill(columns)
    source = QuerySource(twin.dialect, twin.table, dict.fromkeys(NAMES, TYPES["text"]))
    found = dict(twin.rows(reasons_statement(source, DOMAIN, OPTIONS)))
    for place, column in enumerate(theirs.columns):
        ours = [found.get(place * len(REASONS) + reason, 0) for reason in range(len(REASONS))]
        assert ours == [getattr(column, reason) for reason in REASONS], column.column
    leaving: list[Attribute] = [a for a in DOMAIN.attributes if a.leaves_out]
    rows = dict(twin.rows(rows_statement(source, leaving, OPTIONS, persons)))
    assert (rows[1], rows[2]) == (theirs.rows, theirs.left_out)
    if theirs.persons:
        told = (theirs.persons.persons, theirs.persons.beyond, theirs.persons.without)
        assert (rows[0], rows[3], rows[4]) == told


def each_edge_begins_a_bin(twin: Twin, folder, kind: str, more: int) -> None:
    """Of so few edges that they are compared one by one, or of some more: what is at an edge, and just below it."""
    edges = tuple(-(2**40) + i * 2**37 / 3 for i in range(FEW_EDGES + 2 + more))
    below = [math.nextafter(edge, -math.inf) for edge in edges]
    values = [repr(value) for value in (*edges, *below, 0.0, -0.0)] + ["nan", "inf", "-inf", None]
    whole = tuple(range(-(2**40), -(2**40) + 2 * len(edges), 2))
    full_sizes: list[str | None] = [str(edge + step) for edge in whole for step in (-1, 0)]
    full_sizes += [str(sign * (2**63 - 1)) for sign in (-1, 1)] + [None] * (len(values) - len(full_sizes) - 2)
    columns = {"x": (kind, values), "y": ("int8" if kind == "float8" else kind, full_sizes)}
    real = Real("x", lower=edges[0], upper=edges[-1], edges=edges)
    domain = Domain((real, Integer("y", lower=whole[0], upper=whole[-1], edges=whole)))
    theirs, ours = both(twin, folder, columns, domain, ReadOptions())
    assert theirs == ours and all(theirs[1 : len(edges) - 1])
