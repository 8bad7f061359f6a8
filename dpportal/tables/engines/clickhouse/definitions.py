"""What a source of ClickHouse is made of: the tables of its query tree, through views, as the server has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dpportal.platform.json_types import Json
from dpportal.tables.engines.clickhouse.error_codes import PASSING
from dpportal.tables.engines.clickhouse.quoting import identifier, literal
from dpportal.tables.engines.definitions import SourceDefinition
from dpportal.tables.engines.server import ServerTable
from dpportal.tables.faults import SourceFault

QueryRunner = Callable[[str], list[Json]]
TABLES_OF = """SELECT concat(database, '.', name) AS place, engine, create_table_query, as_select,
    concat(target_database, '.', target_table) AS target FROM system.tables WHERE place IN ({})"""
COLUMNS_OF = """SELECT concat(database, '.', table) AS place, name, type, default_kind,
    if(default_kind = 'ALIAS', default_expression, '') AS made FROM system.columns WHERE place IN ({})
    ORDER BY place, position"""
POLICIES_OF = """SELECT concat(database, '.', table) AS place, database, table, short_name, select_filter,
    is_restrictive, apply_to_all, apply_to_list, apply_to_except
    FROM system.row_policies WHERE place IN ({}) ORDER BY name"""
FUNCTIONS_OF = (
    "SELECT name, toString(origin) AS origin, deterministic FROM system.functions WHERE name IN ({})"
)
# Engines that keep their rows on the server itself.
LOCAL = re.compile(r"(?:Shared|Replicated)?\w*MergeTree|Memory|(?:Tiny|Stripe)?Log")
# Of these, those that keep each row as it is, and what makes even them change or drop rows later.
LASTING = re.compile(r"(?:Shared|Replicated)?MergeTree|Memory|(?:Tiny|Stripe)?Log")
LATER = re.compile(r"\bTTL\b|\bmax_(?:rows|bytes)_to_keep\b")
APPENDING = re.compile(r"\bREFRESH (?:EVERY|AFTER)\b.*\bAPPEND\b")
# Names and texts, as the server writes them in a statement.
QUOTED = re.compile(r"""(['`"])(?:\\.|(?!\1)[^\\])*\1""", re.DOTALL)
# A name with the end of a line, whose rest would look like a line of a query tree.
TWO_LINES = re.compile(r"""[`"](?:[^\\]|\\[^n])*\\n""")
# Lines of a query tree that give each row of a table once or not at all, by what is in that row.
ROW_BY_ROW = {
    "PROJECTION COLUMNS", "PROJECTION", "LIST", "COLUMN", "FUNCTION", "CONSTANT", "ARGUMENTS", "PARAMETERS",
    "EXPRESSION", "JOIN TREE", "TABLE", "WHERE", "PREWHERE", "ORDER BY", "SORT", "QUERY", "LAMBDA", "IDENTIFIER",
    "ARGUMENT",
}  # fmt: skip
LINES = {
    **dict.fromkeys(("LIMIT BY LIMIT", "LIMIT BY OFFSET", "LIMIT BY", "LIMIT", "OFFSET"), "limit"),
    **dict.fromkeys(("WINDOW", "QUALIFY"), "window"),
    **dict.fromkeys(("GROUP BY", "HAVING"), "aggregate"),
    **dict.fromkeys(
        ("JOIN", "LEFT TABLE EXPRESSION", "RIGHT TABLE EXPRESSION", "JOIN EXPRESSION", "CROSS JOIN"), "join"
    ),
    **dict.fromkeys(
        ("ARRAY_JOIN", "TABLE EXPRESSION", "JOIN EXPRESSIONS", "TABLE_FUNCTION", "INTERPOLATE"), "rows"
    ),
    **dict.fromkeys(("UNION", "QUERIES"), "union"),
}
# What FROM stands before: a table or query anywhere else is asked about each row. All but the first are shifts.
SOURCES = ("", "JOIN TREE", "LEFT TABLE EXPRESSION", "RIGHT TABLE EXPRESSION", "TABLE EXPRESSION")
# Columns that each table has without a declaration: where a row lies, which other rows decide on.
PLACED = re.compile(r"^ id: \d+, column_name: _(?:part(?!ition_value)\w*|block_\w+|sample_factor|disk_name),")
LINE = re.compile(r"^( *)([A-Z][A-Z_]*(?: [A-Z_]+)*)\b(.*)")
NAMED = re.compile(r"^ id: \d+.*?, table_name: ([^,]+)")
CALLED = re.compile(r", function_name: (\w+), function_type: (\w+)")


@dataclass
class ClickHouseDefinitions:
    """fetch: runs a statement that reads no row."""

    fetch: QueryRunner
    texts: dict[str, str] = field(default_factory=dict)
    shifts: set[str] = field(default_factory=set)

    def definition(self, table: ServerTable, source: str) -> SourceDefinition:
        """What stands behind FROM, and what that is made of."""
        tree = self._tree(f"SELECT * FROM {source}")  # noqa: S608 quoted already
        if table.query:
            # With the functions that somebody made as they are now.
            self.texts["query"] = "\n".join([table.query.strip(), *tree])
        self._read(tree, with_columns=bool(table.query))
        return SourceDefinition.of(self.texts, self.shifts)

    def _read(self, tree: list[str], *, with_columns: bool) -> None:
        self.shifts |= {*_shifts(tree), *self._called(tree)}
        named = (NAMED.match(rest) for kind, rest, _parent in _nodes(tree) if kind == "TABLE")
        self._read_tables({match[1] for match in named if match}, with_columns=with_columns)

    def _read_tables(self, names: set[str], *, with_columns: bool) -> None:
        names -= self.texts.keys()
        if not names:
            return
        listed = ", ".join(map(literal, sorted(names)))
        known = {row["place"]: row for row in self.fetch(TABLES_OF.format(listed))}
        columns: dict[str, list[Json]] = {}
        for row in self.fetch(COLUMNS_OF.format(listed)):
            if "\n" in row["name"]:
                self.shifts.add("unknown")
            if with_columns or row["default_kind"] == "ALIAS":
                columns.setdefault(row.pop("place"), []).append(row)
        policies = self._policies(listed)
        for name in sorted(names):
            self._add(name, known.get(name), repr([columns.get(name), policies.get(name)]))
            for policy in policies.get(name, ()):
                self._read_policy(policy)

    def _add(self, name: str, row: Json | None, further: str) -> None:
        if row is None:
            self.texts[name] = ""
            self.shifts.add("hidden")
            return
        engine, statement = row["engine"], row["create_table_query"]
        words = QUOTED.sub("", statement)
        lasting = LASTING.fullmatch(engine) and not LATER.search(words)
        self.texts[name] = f"{engine if lasting else statement}\n{further}"
        if engine in ("View", "MaterializedView"):
            self._read_select(row["as_select"])
        elif not LOCAL.fullmatch(engine):
            self.shifts.add("foreign")
        elif not lasting:
            self.shifts.add("merged")
        if engine == "MaterializedView":
            self._read_tables({row["target"]}, with_columns=True)
            if APPENDING.search(words):
                self.shifts.add("append")

    def _read_select(self, select: str) -> None:
        # Where the user may not see what a view or policy reads, its words are all that is known of it.
        try:
            self._read(self._tree(select), with_columns=True)
        except SourceFault as fault:
            if fault.code in PASSING:
                raise
            self.shifts.add("hidden")

    def _read_policy(self, policy: Json) -> None:
        """What decides on a row is a part of what the table is made of, as a condition of a view is."""
        if policy["select_filter"]:
            table = f"{identifier(policy['database'])}.{identifier(policy['table'])}"
            self._read_select(f"SELECT 1 FROM {table} WHERE {policy['select_filter']}")  # noqa: S608 quoted

    def _policies(self, listed: str) -> dict[str, list[Json]]:
        policies: dict[str, list[Json]] = {}
        # Where the user may not see them, one may ask about other rows.
        try:
            for row in self.fetch(POLICIES_OF.format(listed)):
                policies.setdefault(row.pop("place"), []).append(row)
        except SourceFault as fault:
            if fault.code in PASSING:
                raise
            self.shifts.add("policies")
        return policies

    def _called(self, tree: list[str]) -> Iterator[str]:
        called = {match[1] for line in tree if (match := CALLED.search(line)) and match[2] == "ordinary"}
        if not called:
            return
        for row in self.fetch(FUNCTIONS_OF.format(", ".join(map(literal, sorted(called))))):
            if row["name"] == "arrayJoin":
                yield "rows"
            elif row["name"] == "indexHint":  # takes rows by the marks of their part, which other rows move
                yield "place"
            elif row["origin"] != "System":
                yield "function"
            elif row["deterministic"] != 1:
                yield "volatile"

    def _tree(self, select: str) -> list[str]:
        [row] = self.fetch(f"SELECT formatQuerySingleLine({literal(select)}) AS words")
        if any(TWO_LINES.match(quoted[0]) for quoted in QUOTED.finditer(row["words"])):
            self.shifts.add("unknown")
        return [line["explain"] for line in self.fetch(f"EXPLAIN QUERY TREE {select}")]


def _nodes(tree: list[str]) -> Iterator[tuple[str, str, str]]:
    """What each line is, the rest of it, and what it is part of; names of projected columns are no lines of a tree."""
    above: list[tuple[int, str]] = []
    for line in tree:
        depth = len(line) - len(line.lstrip(" "))
        while above and above[-1][0] >= depth:
            above.pop()
        above_depth, parent = above[-1] if above else (0, "")
        # A name of two lines hides no others: what lies deeper is a line of the tree.
        if parent == "PROJECTION COLUMNS" and depth == above_depth + 2:
            continue
        match = LINE.match(line)
        kind, rest = (match[2], match[3]) if match else ("", line)
        above.append((depth, kind))
        yield kind, rest, parent


def _shifts(tree: list[str]) -> Iterator[str]:
    for kind, rest, parent in _nodes(tree):
        if kind not in ROW_BY_ROW:
            yield LINES.get(kind, "unknown")
        elif kind == "COLUMN" and PLACED.match(rest):
            yield "place"
        elif kind in ("QUERY", "TABLE") and parent not in SOURCES:
            yield "subquery"
        elif kind == "QUERY" and "is_distinct: 1" in rest:
            yield "aggregate"
        elif kind == "SORT" and "with_fill: 1" in rest:
            yield "rows"
        elif kind == "FUNCTION":
            called = CALLED.search(rest)
            if not called or called[2] != "ordinary":
                yield "window" if called and called[2] == "window" else "aggregate"
        elif kind == "TABLE" and ", final: 1" in rest:
            yield "final"
        elif kind == "TABLE" and ", sample_" in rest:
            yield "sample"
