"""How many people have each text of a column that nobody declared: what a private choice of values is given.

Which text a row has is a function of that row and of how the table is declared to be read. A row without a text that is
a value (`ValueTexts`) is left out, as a closed column leaves a row out. Of each person at most max_rows different texts
count, chosen at random by numbers that no other person's rows have a part in; so a person changes at most max_rows of
the counts, each by 1 (mechanisms/partition_selection/README.md).
"""
# ruff: noqa: S608 names and values are quoted by SQLGlot and engine.literal

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from sqlglot import exp

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.engines.duckdb.session import literal, stored_table
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.meaning.value_texts import ValueTexts
from dpportal.tables.persons import Persons
from dpportal.tables.pushdown.count_query import PERSON, valued_rows
from dpportal.tables.sources import ROW_ID, RowSource
from mechanisms.arrays import Flags, Integers
from mechanisms.domain import Real

# A control character or a break of a line; and anything that is no space.
UNFIT, INK = r"[\p{Cc}\x{2028}\x{2029}]", r"[^\s\p{Z}]"
ROWS_AT_ONCE = 2**16


@dataclass(frozen=True)
class PeopleByValue:
    """Some of a column's texts, each once in all, with how many people have it. people: (n,) int64, at least 1."""

    texts: pa.Array
    people: Integers

    def of(self, chosen: Flags) -> list[str]:
        """The texts that are chosen. chosen: (n,)."""
        return [str(text) for text in self.texts.filter(pa.array(chosen)).to_pylist()]


def people_by_value(
    path: FilePath,
    column: str,
    values: ValueTexts,
    options: ReadOptions | None = None,
    *,
    persons: Persons | None = None,
    key: bytes | None = None,
) -> Iterator[PeopleByValue]:
    """Every text of a column with its people, some at a time, in no order.

    values: the texts that count. options: how fields are read. persons: whose rows belong together; without
    them each row is one person's. key: by which the texts that count are chosen, secret and drawn for this count.
    Raises KeyError if the table lacks the column, ValueError for persons without a key.
    """
    if persons is not None and not key:
        raise ValueError("counting by person needs a key")
    options = (options or ReadOptions()).settled()
    with stored_table(path) as connection:
        source = RowSource(connection, path, options, [])
        names = [column, *([persons.column] if persons else [])]
        seen = source.source(list(dict.fromkeys(names)))
        # The kind does not matter: the text is the same for every one of them.
        rows = valued_rows(seen, [Real(column)], options, persons, [exp.column(ROW_ID)])
        whose = [PERSON] if persons else []
        fields = seen.dialect.sql(exp.select("field_0 AS text", ROW_ID, *whose).from_(rows))
        fitting = f"SELECT * FROM ({fields}) WHERE text IS NOT NULL AND {_are_values(values)}"
        counted = _of_persons(fitting, persons, key) if persons and key else fitting
        relation = connection.sql(f"SELECT text, count(*)::BIGINT AS people FROM ({counted}) GROUP BY text")
        for batch in relation.to_arrow_reader(ROWS_AT_ONCE):
            yield PeopleByValue(batch.column("text"), np.asarray(batch.column("people"), dtype=np.int64))


def _are_values(values: ValueTexts) -> str:
    """SQL that holds for a column `text` that is a value."""
    reserved = ", ".join(literal(text) for text in values.reserved)
    rules = [
        f"length(text) <= {int(values.longest)}",
        f"NOT regexp_matches(text, {literal(UNFIT)})",
        f"regexp_matches(text, {literal(INK)})",
        *([f"lower(trim(text)) NOT IN ({reserved})"] if reserved else []),
    ]
    return " AND ".join(rules)


def _of_persons(rows: str, persons: Persons, key: bytes) -> str:
    """SQL: each person's different texts, of more than max_rows those whose keyed digests are least."""
    digest = f"md5_number(concat({literal(key.hex())}, ':', min({ROW_ID})))"
    different = (
        f"SELECT {PERSON}, text, {digest} AS turn FROM ({rows}) WHERE {PERSON} IS NOT NULL "
        f"GROUP BY {PERSON}, text"
    )
    return (
        f"SELECT text FROM ({different}) "
        f"QUALIFY row_number() OVER (PARTITION BY {PERSON} ORDER BY turn) <= {int(persons.max_rows)}"
    )
