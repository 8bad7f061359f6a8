"""Which files of a folder a query reads, by Spark's own choice, without reading one of them.

A plan says how large a folder is that is read by its path, and not how much of it a condition on folders' names
leaves. So the query is planned once more, multiplied with no row: Spark selects the files, says how large they are,
and has no task to run.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from dpportal.tables.engines.spark.plan_size import WITH_QUERY, Leaf

if TYPE_CHECKING:
    from pyspark.sql.metrics import CollectedMetrics

# With these, no step of a plan is run before the last one, which has nothing to do.
SELECTING = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.exchange.reuse": "false",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled": "false",
}
# Steps that wait for the last one. A broadcast, the value of a subquery or the order of all rows would be found before.
WAITING = {
    "CartesianProduct", "Coalesce", "ColumnarToRow", "Exchange", "Expand", "FileScan", "Filter", "Generate",
    "HashAggregate", "LocalTableScan", "ObjectHashAggregate", "Project", "Range", "Scan", "ShuffledHashJoin", "Sort",
    "SortAggregate", "SortMergeJoin", "Union", "Window", "WindowGroupLimit",
}  # fmt: skip
STEP = re.compile(r"^[ :+-]*(?:\*\(\d+\) )?(\w*)(.*)$", re.MULTILINE)
AHEAD = re.compile(r"Subquery|\brangepartitioning\b")
BY_FOLDER = re.compile(r"\bPartitionFilters: \[(?!\])")
SCAN = re.compile(r"Scan \w+ (.*)")


def selects_folders(plan: str) -> bool:
    """Whether a condition on the names of folders, or on columns that a table is partitioned by, leaves files out."""
    return bool(BY_FOLDER.search(_physical(plan)))


def selection(statement: str) -> str:
    """A query without rows, for which Spark selects the files that a statement reads."""
    return f"SELECT counted.* FROM ({statement}) AS counted CROSS JOIN range(0)"  # noqa: S608 of this portal's query


def runs_nothing(plan: str) -> bool:
    """Whether no file is read for a selection, by its plan under SELECTING; False also for a step that is not known."""
    steps = STEP.findall(_physical(plan))
    return bool(steps) and all(name in WAITING and not AHEAD.search(text) for name, text in steps)


def selected(files: list[Leaf], steps: Iterable[CollectedMetrics.Node]) -> list[Leaf]:
    """Where a plan reads, with the bytes of the files that were selected.

    files: with the bytes of all files. steps: of the selection that was run. A name keeps the bytes of all its files
    where more or fewer scans were planned of it than there are leaves.
    """
    sizes: dict[str, list[int]] = defaultdict(list)
    for step in steps:
        scan = SCAN.fullmatch(step.name)
        if scan:
            sizes[scan[1]] += [int(metric.value) for metric in step.metrics if metric.name == "filesSize"]
    leaves = Counter(leaf.relation for leaf in files if leaf != WITH_QUERY)
    known = {name: iter(sizes[name]) for name, number in leaves.items() if len(sizes[name]) == number}
    return [
        leaf
        if leaf == WITH_QUERY or leaf.relation not in known
        else replace(leaf, bytes=next(known[leaf.relation]))
        for leaf in files
    ]


def _physical(plan: str) -> str:
    return plan.partition("== Physical Plan ==\n")[2].strip("\n")
