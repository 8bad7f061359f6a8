"""How well a stored table fits its declarations: true numbers, for the curator only, before anything is spent."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dpportal.datasets.rawdata.cells import known_category
from dpportal.datasets.rawdata.counting import Persons, person_expression
from dpportal.datasets.rawdata.engine import literal, stored_table
from dpportal.datasets.rawdata.options import ReadOptions
from dpportal.datasets.rawdata.sources import Rows
from mechanisms.domain import Attribute, Boolean, Categorical, Date, Domain, Integer, Real

FREQUENT = 10
# A misfit is shown, and told from others, by its beginning: a field can hold a whole letter.
SHOWN_CHARACTERS = 80
MISSING, UNREADABLE, BELOW, ABOVE, UNDECLARED = "missing", "unreadable", "below", "above", "undeclared"


@dataclass(frozen=True)
class FrequentMisfit:
    """A text that does not fit, why (a reason above), and in how many rows."""

    text: str
    reason: str
    rows: int


@dataclass(frozen=True)
class ColumnFit:
    """Rows of one column by what does not fit.

    missing: no value. unreadable: no number, date or yes/no word. below, above: the bounds. undeclared: no declared
    category. left_out: rows that the column leaves out of a count. unplaced: rows whose text, or lack of one, has no
    cell that was declared for it: all of those but the missing that have a cell of their own.
    """

    column: str
    missing: int
    unreadable: int
    below: int
    above: int
    undeclared: int
    left_out: int
    unplaced: int
    frequent: tuple[FrequentMisfit, ...]

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> ColumnFit:
        return cls(**{**value, "frequent": tuple(FrequentMisfit(**misfit) for misfit in value["frequent"])})


@dataclass(frozen=True)
class PersonFit:
    """persons: how many there are. without: rows without an identifier, all one person's. beyond: rows that the limit
    leaves out, of those that no closed column leaves out."""

    persons: int
    without: int
    max_rows: int
    beyond: int


@dataclass(frozen=True)
class TableFit:
    """rows: of the table. left_out: rows that at least one of the columns leaves out."""

    rows: int
    left_out: int
    columns: tuple[ColumnFit, ...]
    persons: PersonFit | None

    @property
    def counted(self) -> int:
        """Rows that a release of all the columns would count."""
        return self.rows - self.left_out - (self.persons.beyond if self.persons else 0)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> TableFit:
        persons = PersonFit(**value["persons"]) if value["persons"] else None
        return cls(
            **{**value, "columns": tuple(map(ColumnFit.from_json, value["columns"])), "persons": persons}
        )


def fit(
    path: Path,
    domain: Domain,
    options: ReadOptions,
    persons: Persons | None,
    on_progress: Callable[[int, int | None], None] = lambda done, total: None,
) -> TableFit:
    """Look at a stored table as its declarations read it: a pass for each column and one for whole rows.

    on_progress: is told how many passes are done, and of how many. Raises KeyError if the table lacks a column.
    """
    columns = []
    for done, attribute in enumerate(domain.attributes):
        on_progress(done, len(domain.attributes) + 1)
        columns.append(_column(path, attribute, options))
    on_progress(len(columns), len(columns) + 1)
    return _whole_rows(path, domain, options, persons, tuple(columns))


def _column(path: Path, attribute: Attribute, options: ReadOptions) -> ColumnFit:
    with stored_table(path) as connection:
        rows = Rows(connection, path, options.settled(), [attribute])
        shown = f"CASE WHEN reason <> '{MISSING}' THEN left(text_0, {SHOWN_CHARACTERS}) END"
        reasons = f"SELECT text_0, {_reason(attribute)} AS reason FROM ({rows.values()})"
        texts = f"SELECT reason, {shown} AS text, count(*) AS n FROM ({reasons}) WHERE reason IS NOT NULL GROUP BY ALL"
        most = f"max({{'n': n, 'text': text}}, {FREQUENT}) FILTER (reason <> '{MISSING}')"
        found = connection.execute(f"SELECT reason, sum(n)::BIGINT, {most} FROM ({texts}) GROUP BY reason")
        by_reason = {reason: (n, most or []) for reason, n, most in found.fetchall()}
    counts = {reason: n for reason, (n, _most) in by_reason.items()}
    misfits = [
        FrequentMisfit(m["text"], reason, m["n"]) for reason, (_, most) in by_reason.items() for m in most
    ]
    misfits.sort(key=lambda misfit: (-misfit.rows, misfit.text))
    return column_fit(attribute, counts, tuple(misfits[:FREQUENT]))


def column_fit(
    attribute: Attribute, counts: dict[str, int], frequent: tuple[FrequentMisfit, ...]
) -> ColumnFit:
    """What numbers of rows by reason say of a column."""
    missing, unreadable, below, above, undeclared = (
        counts.get(reason, 0) for reason in (MISSING, UNREADABLE, BELOW, ABOVE, UNDECLARED)
    )
    nowhere = missing + unreadable if attribute.missing is None else 0
    left_out = nowhere + (undeclared if attribute.other is None else 0)
    homeless = 0 if attribute.missing_cell else missing
    return ColumnFit(
        attribute.name,
        missing,
        unreadable,
        below,
        above,
        undeclared,
        left_out,
        homeless + unreadable + below + above + undeclared,
        frequent,
    )


def _reason(attribute: Attribute) -> str:
    """SQL: why a row's text_0, read as value_0, does not fit; NULL where it does."""
    absent = f"WHEN text_0 IS NULL THEN '{MISSING}'"
    if isinstance(attribute, Categorical):
        # A text that reads like the label of the cell for all others is not declared by that.
        declared = f"{known_category(attribute, 0, 'text_0')} < {len(attribute.values)}"
        return f"CASE {absent} WHEN NOT coalesce({declared}, false) THEN '{UNDECLARED}' END"
    unread = f"{absent} WHEN value_0 IS NULL THEN '{UNREADABLE}'"
    if isinstance(attribute, Boolean):
        return f"CASE {unread} END"
    assert isinstance(attribute, Integer | Real | Date)
    below = f"WHEN value_0 < {literal(attribute.lower)} THEN '{BELOW}'"
    return f"CASE {unread} {below} WHEN value_0 > {literal(attribute.upper)} THEN '{ABOVE}' END"


def _whole_rows(
    path: Path, domain: Domain, options: ReadOptions, persons: Persons | None, columns: tuple[ColumnFit, ...]
) -> TableFit:
    """What only whole rows show: how many are left out by any column, and how many a person has."""
    leaving = [attribute for attribute in domain.attributes if attribute.leaves_out]
    with stored_table(path) as connection:
        rows = Rows(connection, path, options.settled(), leaving)
        # In a column that leaves rows out, no value is what leaves a row out.
        out = " OR ".join(f"value_{place} IS NULL" for place in range(len(leaving))) or "false"
        person = person_expression(rows, persons) if persons else "NULL"
        limit = persons.max_rows if persons else 0
        by_person = (
            f"SELECT person, count(*) AS n, count_if({out}) AS out FROM ({rows.values(f'{person} AS person')}) "
            "GROUP BY person"
        )
        sums = ("n", "out", f"greatest(n - out - {limit}, 0)", "CASE WHEN person IS NULL THEN n END")
        added = ", ".join(f"coalesce(sum({term}), 0)::BIGINT" for term in sums)
        [(people, table_rows, left_out, beyond, without)] = connection.execute(
            f"SELECT count(*), {added} FROM ({by_person})"
        ).fetchall()
    found = PersonFit(people, without, limit, beyond) if persons else None
    return TableFit(table_rows, left_out, columns, found)
