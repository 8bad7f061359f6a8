"""The queries that add up columns by groups or by cells, in whatever engine: only sums come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlglot import exp
from sqlglot.expressions import Expr, Select

from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.pushdown.count_query import CELL, QuerySource, counted_rows, numbered, places_of
from dpportal.tables.pushdown.dialects import SqlDialect
from mechanisms.domain import Attribute, Domain

# Σv² is added up in two parts, v² div and mod this, so that no sum of fewer than 2^43 rows leaves 64 bits.
PART = 2**20
PARTS = ("number", "first", "square_high", "square_low", "missing", "at_lower", "at_upper")
# Of each cell: rows, Σv, and the two parts of Σv².
CELL_PARTS = PARTS[:4]
# A place and a value are one number while rows are counted: no value is as large.
VALUES = 2**17


@dataclass(frozen=True)
class CellTable:
    """A table of some columns' cells. added: the attribute whose cell v is added up in each of them; empty: none.

    The last cell of that attribute is for missing values.
    """

    columns: tuple[str, ...]
    added: str = ""


def sum_statement(
    source: QuerySource,
    groups: Domain,
    readings: Sequence[Attribute],
    options: ReadOptions,
    persons: Persons | None,
) -> str:
    """SQL: place and value of every sum of each group that has rows, `PARTS` of each column.

    readings: columns whose cell is what is added up, and whose last cell is for missing values. Places are those of an
    array of (groups, columns, parts) in C order. Which rows count: see `count_statement`.
    """
    domain = Domain((*groups.attributes, *readings))
    dialect, first = source.dialect, len(groups.attributes)
    cells = [numbered(CELL, first + j) for j in range(len(readings))]
    rows = dialect.once(counted_rows(source, domain, options, persons), "counted")
    [group] = places_of(domain, [groups.names])
    read = exp.select(exp.alias_(group, "place"), *cells, *_squares(cells)).from_(rows, copy=False)
    squared = dialect.once(read, "squared")
    parts = [part for j, reading in enumerate(readings) for part in _parts(dialect, j, cells[j], reading)]
    named = [exp.alias_(exp.cast(exp.Sum(this=part), "bigint"), f"sum_{i}") for i, part in enumerate(parts)]
    added = exp.select("place", *named).from_(squared, copy=False).group_by("place", copy=False)
    return _unfolded(dialect, added, len(parts))


def cell_sums_statement(
    source: QuerySource,
    domain: Domain,
    tables: Sequence[CellTable],
    options: ReadOptions,
    persons: Persons | None,
) -> str:
    """SQL: place and value of each of `CELL_PARTS` of each cell that is not empty, of all tables of the same rows.

    Places are those of an array of (cells, parts) in C order, cells those of one table after the other. Which rows
    count: see `count_statement`.
    """
    dialect = source.dialect
    rows = dialect.once(counted_rows(source, domain, options, persons), "counted")
    places = places_of(domain, [table.columns for table in tables])
    marks = [
        exp.paren(place) * exp.convert(VALUES) + _value(domain, table)
        for place, table in zip(places, tables, strict=True)
    ]
    mark = dialect.each_row(marks) if len(marks) > 1 else marks[0]
    marked = dialect.once(exp.select(exp.alias_(mark, "mark")).from_(rows, copy=False), "marked")
    place = dialect.integer_quotient(exp.column("mark"), VALUES)
    value = exp.column("mark") - place * exp.convert(VALUES)
    read = exp.select(exp.alias_(place, "place"), exp.alias_(value, "v")).from_(marked, copy=False)
    v = exp.column("v")
    squares = exp.select("place", "v", exp.alias_(v * v, "square")).from_(
        dialect.once(read, "read"), copy=False
    )
    square = exp.column("square")
    high = dialect.integer_quotient(square, PART)
    parts = [exp.convert(1), v, high, square - high * exp.convert(PART)]
    named = [exp.alias_(exp.cast(exp.Sum(this=part), "bigint"), f"sum_{i}") for i, part in enumerate(parts)]
    squared = dialect.once(squares, "squared")
    added = exp.select("place", *named).from_(squared, copy=False).group_by("place", copy=False)
    return _unfolded(dialect, added, len(parts))


def _value(domain: Domain, table: CellTable) -> Expr:
    """The cell that is added up; 0 of a row without a value, which is in the last one."""
    if not table.added:
        return exp.convert(0)
    place = domain.names.index(table.added)
    cell, last = numbered(CELL, place), domain.attributes[place].regular_size - 1
    return exp.paren(_value_where(cell <= exp.convert(last), cell))


def _unfolded(dialect: SqlDialect, added: Select, parts: int) -> str:
    """A row for each part of a place's sums. A query for each would draw other rows of a person."""
    numbers = dialect.each_row([exp.convert(i) for i in range(parts)])
    unfolded = exp.select("*", exp.alias_(numbers, "part")).from_(dialect.once(added, "added"), copy=False)
    chosen = exp.Case(
        this=exp.column("part"),
        ifs=[exp.If(this=exp.convert(i), true=exp.column(f"sum_{i}")) for i in range(parts)],
    )
    place = exp.column("place") * exp.convert(parts) + exp.cast(exp.column("part"), "bigint")
    pairs = exp.select(exp.alias_(place, "place"), exp.alias_(exp.cast(chosen, "bigint"), "n"))
    return dialect.sql(pairs.from_(dialect.once(unfolded, "unfolded"), copy=False))


def _squares(cells: Sequence[Expr]) -> list[Expr]:
    return [exp.alias_(cell * cell, f"square_{j}") for j, cell in enumerate(cells)]


def _parts(dialect: SqlDialect, number: int, cell: Expr, reading: Attribute) -> list[Expr]:
    """What each row adds to each of `PARTS`; a value is a cell before the last."""
    last = reading.regular_size - 1
    square = exp.column(f"square_{number}")
    high = dialect.integer_quotient(square, PART)
    there = cell <= exp.convert(last)
    return [
        _value_where(there, exp.convert(1)),
        _value_where(there, cell),
        _value_where(there, high),
        _value_where(there, square - high * exp.convert(PART)),
        _value_where(cell > exp.convert(last), exp.convert(1)),
        _value_where(cell.eq(exp.convert(0)), exp.convert(1)),
        _value_where(cell.eq(exp.convert(last)), exp.convert(1)),
    ]


def _value_where(condition: Expr, value: Expr) -> Expr:
    return exp.case().when(condition, exp.cast(value, "bigint")).else_(exp.convert(0))


def cell_powers(sums: np.ndarray) -> np.ndarray:
    """(cells, 3) rows, Σv and Σv² as Python integers, from the (cells, parts) that the query gave."""
    number, first, high, low = sums.astype(object).T
    return np.stack([number, first, high * PART + low], axis=1)


def powers_of(sums: np.ndarray) -> np.ndarray:
    """(columns, groups, 6) exact power sums, from the (groups, columns, parts) that the query gave."""
    number, first, high, low, *others = np.moveaxis(sums.astype(object), 2, 0)
    return np.stack([number, first, high * PART + low, *others], axis=2).transpose(1, 0, 2)
