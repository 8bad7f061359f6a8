"""Measures how well a stored table fits its declarations."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.engines.duckdb.session import stored_table
from dpportal.tables.fit import MISSING, ColumnFit, FrequentMisfit, PersonFit, TableFit, column_fit
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.pushdown.count_query import valued_rows
from dpportal.tables.pushdown.fit_queries import REASONS, reason_of, rows_statement
from dpportal.tables.sources import TIMES, RowSource
from mechanisms.domain import Attribute, Domain

FREQUENT = 10
# A misfit is shown, and told from others, by its beginning: a field can hold a whole letter.
SHOWN_CHARACTERS = 80


def fit_table(
    path: FilePath,
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
        columns.append(_column(path, attribute, options.settled()))
    on_progress(len(columns), len(columns) + 1)
    return _single_pass(path, domain, options.settled(), persons, tuple(columns))


def _column(path: FilePath, attribute: Attribute, options: ReadOptions) -> ColumnFit:
    with stored_table(path) as connection:
        source = RowSource(connection, path, options, []).fields(attribute.column)
        rows = valued_rows(source, [attribute], options, None, [exp.column(TIMES)])
        reason = exp.alias_(reason_of(source.dialect, attribute, 0), "reason")
        reasons = exp.select(exp.alias_(exp.column("field_0"), "text"), reason, TIMES).from_(rows)
        missing = REASONS.index(MISSING)
        shown = f"CASE WHEN reason <> {missing} THEN left(text, {SHOWN_CHARACTERS}) END"
        texts = (
            f"SELECT reason, {shown} AS text, sum({TIMES})::BIGINT AS n "
            f"FROM ({source.dialect.sql(reasons)}) AS reasons "
            "WHERE reason IS NOT NULL GROUP BY ALL"
        )
        most = f"max({{'n': n, 'text': text}}, {FREQUENT}) FILTER (reason <> {missing})"
        numbers = connection.execute(f"SELECT reason, sum(n)::BIGINT, {most} FROM ({texts}) GROUP BY reason")
        by_reason = {REASONS[reason]: (n, most or []) for reason, n, most in numbers.fetchall()}
    counts = {reason: n for reason, (n, _most) in by_reason.items()}
    misfits = [
        FrequentMisfit(m["text"], reason, m["n"]) for reason, (_, most) in by_reason.items() for m in most
    ]
    misfits.sort(key=lambda misfit: (-misfit.rows, misfit.text))
    return column_fit(attribute, counts, tuple(misfits[:FREQUENT]))


def _single_pass(
    path: FilePath,
    domain: Domain,
    options: ReadOptions,
    persons: Persons | None,
    columns: tuple[ColumnFit, ...],
) -> TableFit:
    """What only whole rows show: how many are left out by any column, and how many a person has."""
    leaving = [attribute for attribute in domain.attributes if attribute.leaves_out]
    names = [attribute.column for attribute in leaving]
    with stored_table(path) as connection:
        rows = RowSource(connection, path, options, leaving)
        source = rows.source([*names, *([persons.column] if persons else [])], rows.known)
        numbers = connection.execute(rows_statement(source, leaving, options, persons)).fetchall()
    people, all_rows, out, beyond, without = (number for _place, number in sorted(numbers))
    of_persons = PersonFit(people, without, persons.max_rows, beyond) if persons else None
    return TableFit(all_rows, out, columns, of_persons)
