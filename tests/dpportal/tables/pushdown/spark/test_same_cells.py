"""A value means the same in Spark as its text does in an uploaded file, cell by cell.

A query of Spark takes a second, so each looks at many columns and rows at once.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from dpportal.tables import Persons, ReadOptions
from dpportal.tables.pushdown.types import TYPES, written_by
from mechanisms.domain import Categorical, Domain, Integer, Real
from tests.dpportal.tables.awkward import OPTIONS
from tests.dpportal.tables.pushdown import laws, twins
from tests.dpportal.tables.pushdown.spark.twin import ARROW, fits
from tests.dpportal.tables.pushdown.test_same_cells import (
    ATTRIBUTES,
    DATED,
    HOW,
    MISSING,
    NUMBERS,
    TYPED_OPTIONS,
    VALUES,
    column_for_each_attribute,
    drawn,
    lacking,
)
from tests.dpportal.tables.pushdown.twins import both, compared

pytestmark = pytest.mark.spark
FEW = {kind: [ReadOptions(missing=MISSING, strip=False)] for kind in ARROW}
FEW |= {"text": [OPTIONS[3], OPTIONS[4]], "int4": [DATED]}


def of_spark(kind: str) -> list[str | None]:
    return [value for value in [*VALUES[kind], None] if fits(kind, value)]


@pytest.mark.sampled
@pytest.mark.parametrize("kind", [kind for kind in ARROW if kind != "int2"])
def test_every_awkward_value_has_the_cell_of_its_text_in_spark(spark, tmp_path, kind):
    columns, domain = column_for_each_attribute(kind, of_spark(kind), skip=lacking(kind))
    path = twins.stored(tmp_path, columns)
    spark.fill(columns)
    for how in FEW[kind]:
        theirs, ours = compared(spark, path, columns, domain, how)
        assert theirs == ours, how


def test_numbers_are_compared_exactly_where_that_is_declared(spark, tmp_path):
    kinds = ["text", "int8", "numeric", "float4", "float8", "date"]
    rows = max(len(of_spark(kind)) for kind in kinds)
    columns = {kind: (kind, [*of_spark(kind), *[None] * (rows - len(of_spark(kind)))]) for kind in kinds}
    domain = Domain(tuple(Categorical(kind, True, values=NUMBERS, as_numbers=True) for kind in kinds))
    path = twins.stored(tmp_path, columns)
    spark.fill(columns)
    theirs, ours = compared(spark, path, columns, domain, ReadOptions())
    assert theirs == ours
    of_text = columns["text"]
    theirs, ours = both(spark, tmp_path, {"text": of_text}, domain.project(["text"]), OPTIONS[2])
    assert theirs == ours


rows_of = {
    kind: st.lists(
        st.none()
        | st.sampled_from(of_spark(kind))
        | strategy.filter(lambda value, kind=kind: fits(kind, value)),
        min_size=40,
        max_size=40,
    )
    for kind, strategy in drawn.items()
}


@st.composite
def tables(draw, kinds=(*drawn, "text")):
    """Forty rows with a column of each kind, each declared in one of its ways."""
    columns = {f"{kind} {i}": (kind, draw(rows_of[kind])) for i, kind in enumerate(kinds)}
    attributes = (ATTRIBUTES[draw(st.sampled_from(HOW[kind]))](name) for name, (kind, _) in columns.items())
    return columns, Domain(tuple(attributes))


FEW_EXAMPLES = settings(
    max_examples=3,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@given(table=tables(), options=st.sampled_from([*TYPED_OPTIONS, ReadOptions(missing=MISSING)]))
@FEW_EXAMPLES
def test_any_table_has_the_same_cells_in_spark(spark, tmp_path, table, options):
    """Column by column, two together, where each person may have as many rows as there are."""
    columns, domain = table
    asked = [*((name,) for name in domain.names), domain.names[1:3]]
    whose = Persons(domain.names[0], 40, ignore_case=True)
    theirs, ours = both(spark, tmp_path, columns, domain, options, tables=asked, persons=whose)
    assert theirs == ours


@given(table=tables(("text",) * 8), options=st.sampled_from(OPTIONS[2:]))
@FEW_EXAMPLES
def test_any_texts_have_the_same_cells_in_spark(spark, tmp_path, table, options):
    theirs, ours = both(spark, tmp_path, *table, options)
    assert theirs == ours


def test_a_float_of_32_bits_means_its_shortest_digits(spark, tmp_path):
    """Two hundred next to nothing, and many of any size: each is at or above the edge that its digits write."""
    random = np.random.default_rng(5)
    bits = np.concatenate([np.arange(1, 200), random.integers(0, 0x7F800000, 2000)]).astype(np.uint32)
    floats = np.unique(bits.view(np.float32))
    expression = spark.dialect.sql(spark.dialect.widened(spark.column("x"), 2.0**53))
    spark.fill({"x": ("float4", [repr(float(number)) for number in floats])})
    found = spark.table_of(f"SELECT x, {expression} AS wide FROM {spark.table}")
    wide = dict(zip(found["x"].to_pylist(), found["wide"].to_pylist(), strict=True))
    assert wide == {float(x): float(written_by(TYPES["float4"], float(x))) for x in floats}


@pytest.mark.parametrize("more", [0, 1])
def test_each_edge_begins_a_bin(spark, tmp_path, more):
    laws.each_edge_begins_a_bin(spark, tmp_path, "float8", more)


def test_thousands_of_edges_are_passed_as_in_an_upload(spark, tmp_path):
    edges = tuple(sorted({i / 7 for i in range(4000)}))
    numbers = [repr(edge) for edge in edges[::97]] + ["-1", "0.5", "571.1", "9999"]
    domain = Domain((Real("x", True, edges[0], edges[-1], edges=edges), Integer("y", lower=0, upper=9)))
    columns = {"x": ("float8", numbers), "y": ("int8", ["3"] * len(numbers))}
    theirs, ours = both(spark, tmp_path, columns, domain, ReadOptions())
    assert theirs == ours


def test_texts_that_are_no_unicode_and_texts_of_a_collation_are_as_a_file_has_them(spark, tmp_path):
    """Bytes without a meaning are U+FFFD there, and letters are not equal to capitals."""
    domain = Domain((Categorical("x", True, values=("a", "A", "\ufffd")),))
    rows = "VALUES ('a'), ('A'), ('A'), (CAST(X'ff' AS STRING))"
    spark.table = f"(SELECT x COLLATE UTF8_LCASE AS x FROM {rows} AS t(x)) AS source"
    found = spark.counts({"x": ("text", [])}, domain, [("x",)], ReadOptions(), None)
    assert found.tolist() == [1, 2, 1, 0, 0]


def test_a_number_of_more_decimals_than_the_type_has_does_not_fit():
    """However many digits are before them."""
    assert not fits("numeric", "-385515348491491744215.5602021439647")
    assert fits("numeric", "-85515348491491744215.560202143900") and fits("numeric", "0.000")
