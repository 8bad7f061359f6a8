"""The rows of a stored table as the declared attributes read them, in SQL."""
# ruff: noqa: S608 names and values are quoted by engine.identifier and engine.literal

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path

import duckdb

from dpportal.datasets.rawdata import reference
from dpportal.datasets.rawdata.cells import (
    Field,
    category_labels,
    category_type,
    cell_expression,
    edges_table,
    position_layers,
    value_expression,
)
from dpportal.datasets.rawdata.engine import literal, parquet
from dpportal.datasets.rawdata.layout import StoredColumn, layout
from dpportal.datasets.rawdata.options import ReadOptions
from dpportal.datasets.rawdata.reading import PLAIN_NUMBER, Reading, prepared
from mechanisms.domain import Attribute, Categorical, Domain, Integer, Real
from mechanisms.numerals import number_written

BATCH_TEXTS = 20_000


class Rows:
    """A stored table seen through some attributes: declares what their SQL needs and builds it.

    options: settled. Raises KeyError if the table lacks a column.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        path: Path,
        options: ReadOptions,
        attributes: Sequence[Attribute],
    ) -> None:
        self.connection = connection
        self.path = path
        self.options = options
        self.reading = Reading(options)
        self.attributes = attributes
        self.columns = layout(connection, path)
        for place, attribute in enumerate(attributes):
            self._declare(place, attribute)

    def values(self, *further: str, row_numbers: bool = False) -> str:
        """SQL: text_i and value_i of each attribute, beside the further expressions."""
        texts, values = [], []
        for place, attribute in enumerate(self.attributes):
            column = self.columns[attribute.name]
            plain, always = self._plain(column)
            texts.append(f"{self.reading.text(column.text)} AS text_{place}")
            texts += [f"{plain} AS plain_{place}"] if plain else []
            field = Field(f"text_{place}", f"plain_{place}" if plain else None, always)
            values.append(f"{value_expression(attribute, place, self.reading, field)} AS value_{place}")
        source = parquet(self.path, row_numbers=row_numbers)
        rows = f"SELECT {', '.join([*texts, *further]) or '1'} FROM {source}"
        return f"SELECT *{''.join(f', {value}' for value in values)} FROM ({rows})"

    def cells(self, *further: str, row_numbers: bool = False) -> str:
        """SQL: cell_i of each attribute (NULL: the row is left out), beside all that `values` has."""
        rows = _with_positions(self.values(*further, row_numbers=row_numbers), self.attributes)
        cells = (f", {cell_expression(a, place)} AS cell_{place}" for place, a in enumerate(self.attributes))
        return f"SELECT *{''.join(cells)} FROM ({rows})"

    def _plain(self, column: StoredColumn) -> tuple[str | None, bool]:
        """SQL of the stored plain number where the declared options read it alike, and whether it is all there is."""
        if column.plain is None or self.options.decimal != ".":
            return None, False
        words = [prepared(word, self.options) for word in self.options.missing]
        absent = ", ".join(literal(float(word)) for word in words if re.fullmatch(PLAIN_NUMBER, word))
        if not absent:
            return column.plain, column.all_plain
        return f"CASE WHEN {column.plain} NOT IN ({absent}) THEN {column.plain} END", False

    def _declare(self, place: int, attribute: Attribute) -> None:
        """Give the database an attribute's values or edges, as parameters: they can be any text, and thousands."""
        if isinstance(attribute, Categorical) and attribute.as_numbers:
            self._declare_numbers(place, attribute)
        elif isinstance(attribute, Categorical):
            name = category_type(place)
            values = f"CREATE TEMP TABLE {name}_values AS SELECT unnest(?::VARCHAR[]) AS v"
            self.connection.execute(values, [category_labels(attribute, self.options)])
            self.connection.execute(f"CREATE TYPE {name} AS ENUM (SELECT v FROM {name}_values)")
        elif isinstance(attribute, Real) or (isinstance(attribute, Integer) and attribute.edges):
            kind = "BIGINT" if isinstance(attribute, Integer) else "DOUBLE"
            own = attribute.edges if isinstance(attribute, Integer) else attribute.all_edges
            edges = f"CREATE TEMP TABLE {edges_table(place)} AS SELECT ?::{kind}[] AS edges"
            self.connection.execute(edges, [list(own[1:-1])])

    def _declare_numbers(self, place: int, attribute: Categorical) -> None:
        """The table's texts that write a declared number exactly, with its cell.

        A double narrows them down first: equal numbers have equal doubles.
        """
        name, column = category_type(place), self.columns[attribute.name]
        self.connection.execute(f"CREATE TEMP TABLE {name} (text VARCHAR, cell BIGINT)")
        cells = {number_written(value): cell for cell, value in enumerate(attribute.values)}
        near = ", ".join(literal(_nearest(number)) for number in cells if number is not None)
        cursor = self.connection.cursor()
        cursor.execute(
            f"SELECT text FROM (SELECT DISTINCT {self.reading.text(column.text)} AS text FROM {parquet(self.path)}) "
            f"WHERE {self.reading.number('text')} IN ({near})"
        )
        while texts := cursor.fetchmany(BATCH_TEXTS):
            found = [(text, cells.get(reference.exact_number_of(text, self.options))) for (text,) in texts]
            known = [pair for pair in found if pair[1] is not None]
            rows = f"INSERT INTO {name} SELECT unnest(?::VARCHAR[]), unnest(?::BIGINT[])"
            self.connection.execute(rows, [[text for text, _ in known], [cell for _, cell in known]])
        cursor.close()


def _nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def whole_cell(domain: Domain, further: int = 0) -> str:
    """SQL: the cell in the whole domain, in C order, from cell_i; NULL if the row is left out.

    further: number of columns after the domain's that have no part in the cell, but may leave the row out.
    """
    index = "0::BIGINT"
    for place, attribute in enumerate(domain.attributes):
        index = f"({index} * {attribute.size} + cell_{place})"
    for place in range(len(domain.attributes), len(domain.attributes) + further):
        index = f"({index} + 0 * cell_{place})"
    return index


def every_cell(domain: Domain) -> str:
    """SQL: the list of all columns' cells, from cell_i; NULL if the row is left out."""
    cells = ", ".join(f"cell_{place}::INTEGER" for place in range(len(domain.attributes)))
    # Only where a cell can be NULL: each further mention of a cell multiplies what the database works out.
    known = [f"cell_{place} IS NOT NULL" for place, a in enumerate(domain.attributes) if a.leaves_out]
    return f"CASE WHEN {' AND '.join(known)} THEN [{cells}] END" if known else f"[{cells}]"


def _with_positions(rows: str, attributes: Sequence[Attribute]) -> str:
    """SQL: the rows with every position_i, a nested query for each layer of all attributes together.

    A query for each attribute's own would hold all columns once for each.
    """
    if not attributes:
        return rows
    first, *later = zip_longest(
        *(position_layers(attribute, place) or ["NULL"] for place, attribute in enumerate(attributes))
    )
    positions = (f", {layer} AS position_{place}" for place, layer in enumerate(first))
    rows = f"SELECT *{''.join(positions)} FROM ({rows})"
    for layers in later:
        refined = [f"{layer} AS position_{place}" for place, layer in enumerate(layers) if layer]
        rows = f"SELECT * REPLACE ({', '.join(refined)}) FROM ({rows})"
    return rows
