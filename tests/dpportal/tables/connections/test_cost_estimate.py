"""What a plan of Spark says that it reads, and what is refused for it; no cluster is asked."""

from __future__ import annotations

import pytest

from dpportal.tables.connections.cost_estimate import Expected, check
from dpportal.tables.connections.faults import SourceFault
from dpportal.tables.connections.models import Connection
from dpportal.tables.engines.spark.file_selection import runs_nothing, selected, selects_folders
from dpportal.tables.engines.spark.plan_size import WITH_QUERY, Leaf, expected, leaves

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


SELECTION = """== Optimized Logical Plan ==
Project
== Physical Plan ==
CartesianProduct
:- *(1) Filter (age#4 > 4)
:  +- FileScan csv [age#4,day#5] Location: InMemoryFileIndex(1 paths)[file:/lake], PartitionFilters: [(day#5 = 3)]
+- *(2) Project
   +- *(2) Range (0, 0, step=1, splits=2)
"""


def test_a_selection_runs_nothing_only_where_each_step_is_known_to_wait():
    assert selects_folders(SELECTION) and runs_nothing(SELECTION)
    assert not selects_folders(SELECTION.replace("[(day#5 = 3)]", "[]"))
    for ahead in ("BroadcastExchange", "Sort rangepartitioning(age#4)", "Filter Subquery", "Unheard", "("):
        assert not runs_nothing(SELECTION.replace("*(1) Filter", f"*(1) {ahead}"))
    assert not runs_nothing("") and not runs_nothing("what nobody foresaw")


def test_the_bytes_of_selected_files_count_where_each_leaf_has_a_scan():
    from pyspark.sql.metrics import CollectedMetrics, MetricValue  # takes long to import

    steps = [
        CollectedMetrics.Node(1, "Scan csv ", [MetricValue("filesSize", 3, "size")]),
        CollectedMetrics.Node(2, "Scan parquet lake.visits", [MetricValue("filesSize", 5, "size")]),
        CollectedMetrics.Node(3, "Project", []),
    ]
    files = [Leaf("", None, 100), WITH_QUERY, Leaf("lake.visits", 7, 200), Leaf("lake.others", None, 300)]
    assert [leaf.bytes for leaf in selected(files, steps)] == [3, 0, 5, 300]
    # Two are read and one scan was planned: nobody knows of which.
    assert [leaf.bytes for leaf in selected([*files, Leaf("", None, 50)], steps)] == [100, 0, 5, 300, 50]
