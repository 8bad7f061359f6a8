"""The query that counts a table, in whatever engine: only the cells that are not empty come back.

Fields, numbers, values and cells are nested queries, each of which an engine computes once for a row (`once`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlglot import exp
from sqlglot.expressions import Expr, Select

from dpportal.tables.meaning.number_syntax import NOBODY
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.persons import Persons
from dpportal.tables.pushdown.cells import cell_of, known_categories, needs_number, search, value_of
from dpportal.tables.pushdown.dialects import NotExactError, SqlDialect
from dpportal.tables.pushdown.fields import Field, plain_words, read_as_they_are
from dpportal.tables.pushdown.types import STORED, ColumnType, not_exact
from mechanisms.domain import Attribute, Categorical, Domain

LABEL, CELL, PERSON = "label", "cell", "person"
# Columns of categories up to which each is joined with its declared values. Every join carries all columns, in memory
# that an engine reserves: with 120 columns it took more than a worker has.
MOST_JOINED = 60


@dataclass(frozen=True)
class Plain:
    """A column of plain numbers beside a column of texts. always: whether every text has one."""

    column: Expr
    always: bool


@dataclass(frozen=True)
class QuerySource:
    """A table: what stands behind FROM, quoted already, and the types of its columns by name."""

    dialect: SqlDialect
    rows: str
    columns: Mapping[str, ColumnType]

    def column(self, name: str) -> Expr:
        return exp.column(exp.to_identifier(name, quoted=True))

    def plain(self, name: str) -> Plain | None:
        """The plain numbers that are stored of a column."""
        return None

    def known_cell(self, name: str) -> Expr | None:
        """A column's cell, where the rows have it already."""
        return None


def count_statement(
    source: QuerySource,
    domain: Domain,
    tables: Sequence[Sequence[str]],
    options: ReadOptions,
    persons: Persons | None,
) -> str:
    """SQL: place and number of rows of each cell that is not empty, of tables of some of the domain's columns each.

    A place counts on from table to table, each in C order. A row that any column leaves out is in none, nor is one that
    names nobody; of each person at most `max_rows` count, the same in every table, which the engine draws at random:
    each row's number is its own, so nobody's rows decide which of another's are taken. options: settled. Raises
    KeyError if the source lacks a column, NotExactError for what the engine cannot say.
    """
    rows = counted_rows(source, domain, options, persons)
    places = (
        source.dialect.each_row(places_of(domain, tables))
        if len(tables) > 1
        else places_of(domain, tables)[0]
    )
    placed = exp.select(exp.alias_(places, "place")).from_(rows.subquery("counted", copy=False), copy=False)
    count = exp.alias_(exp.Count(this=exp.Star()), "n")
    counted = (
        exp.select("place", count)
        .from_(placed.subquery("placed", copy=False), copy=False)
        .group_by("place", copy=False)
    )
    return source.dialect.sql(counted)


def counted_rows(
    source: QuerySource, domain: Domain, options: ReadOptions, persons: Persons | None
) -> Select:
    """The rows that count, each with its cell_i of every attribute: see `count_statement`."""
    rows = cells(source, domain.attributes, options, persons)
    rows = exp.select("*").from_(rows.subquery("cells", copy=False), copy=False)
    for place, attribute in enumerate(domain.attributes):
        if attribute.leaves_out:
            # Each further mention of a cell is computed once more.
            rows = rows.where(numbered(CELL, place).is_(exp.null()).not_(), copy=False)
    if persons:
        rows = rows.where(exp.column(PERSON).is_(exp.null()).not_(), copy=False)
        rows = _few_of_each_person(source.dialect, rows, len(domain.attributes), persons.max_rows)
    return rows


def places_of(domain: Domain, tables: Sequence[Sequence[str]]) -> list[Expr]:
    """Where a row is counted, of each table."""
    steps: list[Expr] = []
    passed = 0
    for columns in tables:
        place: Expr = exp.cast(exp.convert(0), "bigint")
        for name in columns:
            number = domain.names.index(name)
            place = exp.paren(place) * exp.convert(domain.shape[number]) + numbered(CELL, number)
        steps.append(place + exp.convert(passed))
        passed += math.prod(domain.project(columns).shape)
    return steps


def _few_of_each_person(dialect: SqlDialect, rows: Select, columns: int, most: int) -> Select:
    turns = dialect.turns(rows, PERSON, [f"{CELL}_{place}" for place in range(columns)])
    return (
        exp.select("*")
        .from_(turns.subquery("turns", copy=False), copy=False)
        .where(exp.column("turn") <= exp.convert(int(most)), copy=False)
    )


def cells(
    source: QuerySource,
    attributes: Sequence[Attribute],
    options: ReadOptions,
    persons: Persons | None,
    further: Sequence[Expr] = (),
) -> Select:
    """The cell of each attribute as cell_i, the person, and what is taken from the source beside."""
    dialect = source.dialect
    rows = valued_rows(source, attributes, options, persons, further)
    searches = {
        place: search(a, dialect, numbered("value", place), partial(_search_step, place))
        for place, a in enumerate(attributes)
        if source.known_cell(a.column) is None
    }
    for layer in range(max(map(len, searches.values()), default=0) - 1):
        layers = [(place, layers[layer]) for place, layers in searches.items() if layer < len(layers) - 1]
        named = [exp.alias_(step, f"found_{layer}_{place}") for place, step in layers]
        rows = dialect.once(exp.select("*", *named).from_(rows, copy=False), "searched")
    selected: list[Expr] = []
    for place, a in enumerate(attributes):
        if place not in searches:
            selected.append(numbered(CELL, place))
            continue
        position = searches[place][-1] if searches[place] else numbered(LABEL, place)
        cell = cell_of(a, dialect, numbered("value", place), position)
        selected.append(as_numbered(cell, CELL, place))
    whose = [exp.column(PERSON)] if persons else []
    return exp.select(*selected, *_passed(further), *whose).from_(rows, copy=False)


def _search_step(place: int, layer: int) -> Expr:
    return exp.column(f"found_{layer}_{place}")


def _passed(further: Sequence[Expr]) -> list[Expr]:
    return [exp.column(each.alias_or_name) for each in further]


def valued_rows(
    source: QuerySource,
    attributes: Sequence[Attribute],
    options: ReadOptions,
    persons: Persons | None,
    further: Sequence[Expr] = (),
) -> Expr:
    """A row's field_i and value_i of each attribute, label_i of categories, and the person.

    further: what else is taken from the source. Of a column whose cell the source knows there is the cell_i alone.
    """
    known = [(place, source.known_cell(a.column)) for place, a in enumerate(attributes)]
    further = [*further, *(as_numbered(cell, CELL, place) for place, cell in known if cell is not None)]
    columns = [
        (place, a, _field(source, options, a, place))
        for place, a in enumerate(attributes)
        if known[place][1] is None
    ]
    whose = _Whose(source, options, persons)
    rows = source.dialect.once(_fields(source, columns, whose, further), "fields")
    numbers = [
        as_numbered(field.as_number(), "number", place)
        for place, a, field in columns
        if needs_number(a) and not field.is_read_as_it_is
    ]
    if numbers:
        rows = source.dialect.once(exp.select("*", *numbers).from_(rows, copy=False), "numbers")
    fields = [numbered("field", place) for place, _a, _field in columns]
    values = [as_numbered(value_of(a, field), "value", place) for place, a, field in columns]
    selected = fields + values + whose.person() + _passed(further) or [exp.convert(1)]
    rows = exp.select(*selected).from_(rows, copy=False)
    categories = [(place, a, field) for place, a, field in columns if isinstance(a, Categorical)]
    if len(categories) > MOST_JOINED:
        return source.dialect.once(_compared(rows, source.dialect, categories), "valued")
    for place, a, field in categories:
        rows = _looked_up(rows, place, a, field)
    return source.dialect.once(rows, "valued")


def _fields(
    source: QuerySource,
    columns: Sequence[tuple[int, Attribute, Field]],
    whose: _Whose,
    further: Sequence[Expr],
) -> Select:
    """A row's field_i, the plain_i of those that have one, the number_i of typed ones, and the person's field."""
    raw = [as_numbered(field.content(source.column(a.column)), "raw", place) for place, a, field in columns]
    read = [as_numbered(field.read(), "field", place) for place, _a, field in columns]
    for place, a, field in columns:
        if needs_number(a) and field.is_read_as_it_is:
            read.append(as_numbered(replace(field, value=field.raw).as_number(), "number", place))
        plain = source.plain(a.column) if field.plain is not None else None
        if plain is not None and field.plain is not None:
            raw.append(as_numbered(plain.column, "plain", place))
            read.append(as_numbered(field.read_plain(field.plain), "plain", place))
    rows = exp.select(*(raw + whose.raw() + list(further) or [exp.convert(1)])).from_(
        exp.Var(this=source.rows), copy=False
    )
    return exp.select(*(read + whose.read() + _passed(further) or [exp.convert(1)])).from_(
        source.dialect.once(rows, "found"), copy=False
    )


def _field(source: QuerySource, options: ReadOptions, attribute: Attribute, place: int) -> Field:
    """An attribute's column. Raises NotExactError if its type has no one text for what the attribute reads."""
    if refusal := not_exact(source.columns[attribute.column].name, attribute):
        raise NotExactError(f"{attribute.name}: {refusal}")
    field = _named(source, options, attribute.column, str(place))
    if isinstance(attribute, Categorical) and field.type.is_text and field.type is not STORED:
        return replace(field, declared=read_as_they_are(attribute.values, options))
    stored = source.plain(attribute.column) if options.decimal == "." else None
    if stored is None:
        return field
    always = stored.always and not plain_words(options)
    return replace(field, plain=numbered("plain", place), always=always)


def _named(source: QuerySource, options: ReadOptions, column: str, place: str) -> Field:
    raw, value, number = (numbered(kind, place) for kind in ("raw", "field", "number"))
    return Field(source.dialect, options, source.columns[column], raw, value, number)


@dataclass(frozen=True)
class _Whose:
    """Whose row it is, through the layers; nothing where each row is a person's."""

    source: QuerySource
    options: ReadOptions
    persons: Persons | None

    def _field(self) -> Field:
        assert self.persons
        # Spaces around an identifier never count, nor do those around a word that stands for none.
        options = replace(self.options, strip=True, missing=(*self.options.missing, *NOBODY))
        return _named(self.source, options, self.persons.column, PERSON)

    def raw(self) -> list[Expr]:
        if not self.persons:
            return []
        field, column = self._field(), self.source.column(self.persons.column)
        content = field.text_content(column, strip=True) if field.type.is_text else field.content(column)
        return [as_numbered(content, "raw", PERSON)]

    def read(self) -> list[Expr]:
        """What two rows of one person have in common but for capitals; NULL if there is no identifier."""
        if not self.persons:
            return []
        return [as_numbered(self._field().read(), "field", PERSON)]

    def person(self) -> list[Expr]:
        if not self.persons:
            return []
        field = self._field()
        small = self.persons.ignore_case and field.type.is_text
        person = self.source.dialect.without_capitals(field.value) if small else field.value
        return [exp.alias_(person, PERSON)]


def _looked_up(rows: Select, place: int, attribute: Categorical, field: Field) -> Select:
    """The rows with the cell of a declared value as label_i, NULL where the field is none: a join by equality."""
    sought, known = known_categories(attribute, field)
    label = f"{LABEL}_{place}"
    if not known:
        return rows.select(exp.alias_(exp.cast(exp.null(), "bigint"), label), copy=False)
    name = f"known_{place}"
    declared = field.dialect.lookup(known, name)
    rows = rows.join(declared, on=sought.eq(exp.column("category", table=name)), join_type="left", copy=False)
    return rows.select(exp.alias_(exp.column(CELL, table=name), label), copy=False)


def _compared(
    rows: Select, dialect: SqlDialect, categories: Sequence[tuple[int, Categorical, Field]]
) -> Select:
    """The rows with label_i as `_looked_up` finds it, by comparing a field with one declared value after the other."""
    among = {place: known_categories(a, field) for place, a, field in categories}
    sought = [as_numbered(value, "sought", place) for place, (value, _known) in among.items()]
    labels = []
    for place, (_value, known) in among.items():
        label: Expr = exp.null()
        if known:
            ifs = [exp.If(this=value, true=exp.convert(cell)) for value, cell in known]
            label = exp.Case(this=numbered("sought", place), ifs=ifs)
        labels.append(as_numbered(exp.cast(label, "bigint"), LABEL, place))
    named = dialect.once(rows.select(*sought, copy=False), "sought")
    return exp.select("*", *labels).from_(named, copy=False)


def numbered(name: str, place: int | str) -> Expr:
    """A column of a subquery, by its place."""
    return exp.column(f"{name}_{place}")


def as_numbered(expression: Expr, name: str, place: int | str) -> Expr:
    """An expression under such a name."""
    return exp.alias_(expression, f"{name}_{place}")
