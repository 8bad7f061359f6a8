"""What a source of Spark is made of: the views, tables and functions of its plan, as the catalog describes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from dpportal.tables.engines.definitions import SourceDefinition
from dpportal.tables.engines.server import ServerTable

# Nodes that give each row of a table once or not at all, by what is in that row; or rows that are in no table.
ROW_BY_ROW = {
    "Project", "Filter", "SubqueryAlias", "View", "Relation", "RelationV2", "HiveTableRelation", "LogicalRelation",
    "Sort", "ResolvedHint", "Range", "LocalRelation", "OneRowRelation", "Statistics",
}  # fmt: skip
NODES = {
    **dict.fromkeys(("GlobalLimit", "LocalLimit", "Limit", "Offset", "Tail"), "limit"),
    "Sample": "sample",
    **dict.fromkeys(("Window", "WindowGroupLimit"), "window"),
    **dict.fromkeys(("Aggregate", "Distinct", "Deduplicate", "Expand"), "aggregate"),
    **dict.fromkeys(("Join", "AsOfJoin", "LateralJoin"), "join"),
    **dict.fromkeys(("Union", "Intersect", "Except"), "union"),
    **dict.fromkeys(("WithCTE", "CTERelationDef", "CTERelationRef"), "subquery"),
    "Generate": "rows",
}
SECTION = "== {} Logical Plan ==\n"
NODE = re.compile(r"^[ :+-]*'?(\w+)")
VIEW = re.compile(r"^[ :+-]*View \(((?:`(?:[^`]|``)+`\.?)+)", re.MULTILINE)
CALLED = re.compile(r"((?:[\w`]+\.)*\w+)\(")
SUBQUERY = re.compile(r"\b(?:\w*subquery|exists|list)#\d")
# Of a row where it lies in which file, which other rows decide on.
PLACED = re.compile(r"\b_metadata\b")
OWN = re.compile(r"UDF|UDAF|UDTF")
# What is read whose name does not come first: files without a name, and what another catalog knows, whose name has
# points.
UNNAMED = re.compile(r"^[ :+-]*Relation(V2)? ?\[(.*)$", re.MULTILINE)
# Files of a kind that says which columns it has; of all others Spark looks for names and types in their rows.
TYPED_FILES = {"parquet", "orc", "avro", "text"}
# Spark's own that give something else each time, or depend on more than their row.
VOLATILE = {
    "rand", "randn", "random", "randstr", "uniform", "uuid", "shuffle", "monotonically_increasing_id",
    "spark_partition_id", "input_file_name", "input_file_block_start", "input_file_block_length", "reflect",
    "java_method", "invoke", "staticinvoke", "sessionwindow", "session_window",
}  # fmt: skip
# What of a description says what a table is, and not when it was made or how large it is.
TELLING = {
    "Type", "Provider", "View Text", "View Catalog and Namespace", "View Query Output Columns", "View Schema Mode",
    "Collation",
}  # fmt: skip
SparkRows = list[dict[str, str]]


def definition(
    table: ServerTable, plan: str, relations: list[str], describe: Callable[[str], SparkRows]
) -> SourceDefinition:
    """plan: of EXPLAIN EXTENDED. relations: names of the tables that are read. describe: what DESCRIBE … says."""
    analysed = _section(plan, "Analyzed").partition("\n")[2]
    views = sorted(set(VIEW.findall(analysed)))
    texts = {"query": table.query.strip()} if table.query else {}
    for name in views:
        texts[name.replace("`", "")] = _text(describe(f"TABLE EXTENDED {name}"), with_columns=True)
    for relation in relations:
        described = describe(f"TABLE EXTENDED {_quoted(relation)}")
        texts[relation] = _text(described, with_columns=bool(views or table.query))
    for function in sorted({name for name in CALLED.findall(analysed) if name.count(".") == 2}):
        texts[f"{function}()"] = repr(
            [list(row.values()) for row in describe(f"FUNCTION EXTENDED {function}")]
        )
    shifts = {*_shifts(analysed), *_shifts(_section(plan, "Optimized"))}
    return SourceDefinition.of(texts, shifts)


def _shifts(plan: str) -> Iterator[str]:
    for line in plan.splitlines():
        node = NODE.match(line)
        name = node[1] if node else ""
        if name not in ROW_BY_ROW:
            yield NODES.get(name, "unknown")
    if SUBQUERY.search(plan):
        yield "subquery"
    if PLACED.search(plan):
        yield "place"
    if not set(_unnamed(plan)) <= TYPED_FILES:
        yield "found"
    if OWN.search(plan):
        yield "function"
    if {name.lower() for name in CALLED.findall(plan)} & VOLATILE:
        yield "volatile"


def _unnamed(plan: str) -> Iterator[str]:
    """The kinds of all files that are read without the catalog; empty where a line does not say it."""
    for begin, columns_and_kind in UNNAMED.findall(plan):
        _columns, ended, kind = columns_and_kind.rpartition("] ")
        first = kind.partition(" ")[0] if ended else ""
        if not (begin == "V2" and "." in first):
            yield first


def _section(plan: str, name: str) -> str:
    return plan.partition(SECTION.format(name))[2].partition("\n== ")[0].strip("\n")


def _text(described: SparkRows, *, with_columns: bool) -> str:
    """Columns with their types, which come first, and what else is telling; an external table also by its place."""
    names = [row["col_name"] for row in described]
    end = names.index("") if "" in names else len(names)
    columns = [(row["col_name"], row["data_type"]) for row in described[:end]] if with_columns else []
    known: Mapping[str, str] = {row["col_name"]: row["data_type"] for row in described[end:]}
    telling = TELLING | ({"Location"} if known.get("Type") == "EXTERNAL" else set())
    return repr([columns, sorted((name, text) for name, text in known.items() if name in telling)])


def _quoted(name: str) -> str:
    return ".".join(f"`{part}`" for part in name.split("."))
