"""What a plan of Spark says that it reads, and what is refused for it; no cluster is asked."""

from __future__ import annotations

import pytest

from dpportal.tables.connections.models import Connection
from dpportal.tables.engines.cost_estimate import Expected, check
from dpportal.tables.engines.spark.plan_size import expected, leaves
from dpportal.tables.faults import SourceFault

PLAN = """== Optimized Logical Plan ==
Join LeftOuter, (x#1 = y#2), Statistics(sizeInBytes=8.0 EiB)
:- Filter (x#1 = a
line's end), Statistics(sizeInBytes=1.0 B)
:  +- Relation spark_catalog.health.visits[x#1,z#3] parquet, Statistics(sizeInBytes=1.5 KiB, rowCount=3.00E+3)
:- RelationV2[x#4] lake.health.`odd name` lake.health.`odd name`, Statistics(sizeInBytes=10.0 B)
:- Relation [x#5] csv, Statistics(sizeInBytes=4.0 B)
+- LocalRelation [y#2], Statistics(sizeInBytes=9.0 B, rowCount=7)

== Physical Plan ==
+- Relation nothing[x#1] parquet, Statistics(sizeInBytes=9.0 B)
"""
HIVE = """== Optimized Logical Plan ==
HiveTableRelation [`spark_catalog`.`health`.`old`, org.apache.Serde, Data Cols: [x#1]], Statistics(sizeInBytes=8.0 EiB)
"""


def whole(plan: str) -> Expected:
    return expected(leaves(plan), leaves(plan), {})


def test_a_plan_reads_the_rows_and_bytes_of_its_leaves():
    assert whole(PLAN) == Expected(rows=3000, bytes=1536 + 10 + 4)
    names = [leaf.relation for leaf in leaves(PLAN)]
    assert names == ["spark_catalog.health.visits", "lake.health.odd name", "", ""]


def test_of_a_partitioned_table_the_files_count_that_are_read():
    """Rows are measured of the whole table, 3000 in 6 KiB; a quarter of it is read."""
    measured = leaves(PLAN)
    files = leaves(PLAN.replace(", rowCount=3.00E+3", ""))
    sizes = {"spark_catalog.health.visits": 4 * 1536}
    assert expected(measured, files, sizes) == Expected(rows=750, bytes=1536 + 10 + 4)
    assert expected(measured, files, {"spark_catalog.health.visits": None}).rows == 3000


def test_a_table_of_unknown_size_is_refused_as_one():
    assert [leaf.relation for leaf in leaves(HIVE)] == ["spark_catalog.health.old"]
    assert whole(HIVE).bytes is None and whole("what nobody foresaw").bytes is None
    with pytest.raises(SourceFault, match="ANALYZE TABLE"):
        check(Connection(), whole(HIVE))


def test_a_refusal_says_what_is_allowed_and_no_number_of_the_table():
    with pytest.raises(SourceFault, match=r"more for this than the connection allows \(1\.0.KB\)") as told:
        check(Connection(most_bytes=1024), Expected(1, 2048))
    assert "2.0" not in told.value.message
    with pytest.raises(SourceFault, match=r"more rows for this than the connection allows \(2,999\)") as told:
        check(Connection(most_rows=2999), Expected(3000, 1))
    assert "3,000" not in told.value.message
    check(Connection(most_rows=3000, most_bytes=2048), Expected(3000, 2048))
