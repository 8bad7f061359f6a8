"""What a source of PostgreSQL is made of, by its catalogs and by the plan of reading it.

Catalogs are read by a second session while the first holds its locks: the snapshot of a transaction can be older than
the definitions that its queries are planned with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dpportal.platform.json_types import Json
from dpportal.tables.engines.definitions import SourceDefinition
from dpportal.tables.engines.postgres import lexer
from dpportal.tables.engines.server import ServerTable
from dpportal.tables.faults import SourceFault

PlanNodes = Sequence[Json]
# What stands in the places of a statement, in order or by name.
QueryValues = Sequence[object] | Mapping[str, object] | None
# Each (catalog, object) that a source comes to: views by the rule that makes them, policies, columns that are made of
# others, and tables that inherit. Partitions come and go, so those of a table are not named. A view is bound to
# tables, whatever these are called: their numbers are parts of them, which TRUNCATE and VACUUM FULL leave as they are.
PARTS = """WITH RECURSIVE found (classid, objid) AS (
    SELECT 'pg_class'::regclass::oid, o FROM unnest(%(tables)s::oid[]) AS o
    UNION ALL SELECT 'pg_proc'::regclass::oid, o FROM unnest(%(functions)s::oid[]) AS o
    UNION SELECT further.* FROM found CROSS JOIN LATERAL (
        SELECT refclassid, refobjid FROM pg_depend AS d JOIN (
            SELECT 'pg_rewrite'::regclass::oid, oid FROM pg_rewrite WHERE ev_class = found.objid
            UNION ALL SELECT 'pg_policy'::regclass, oid FROM pg_policy WHERE polrelid = found.objid
            UNION ALL SELECT 'pg_attrdef'::regclass, f.oid FROM pg_attrdef AS f JOIN pg_attribute
                ON (attrelid, attnum) = (adrelid, adnum) WHERE adrelid = found.objid AND attgenerated <> ''
        ) AS made (classid, objid) USING (classid, objid)
        WHERE found.classid = 'pg_class'::regclass
            AND refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
        UNION ALL SELECT refclassid, refobjid FROM pg_depend AS d
        WHERE (d.classid, d.objid) = (found.classid, found.objid)
            AND d.classid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
            AND refclassid IN ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_operator'::regclass)
        UNION ALL SELECT 'pg_class'::regclass, inhrelid FROM pg_inherits JOIN pg_class ON pg_class.oid = inhparent
        WHERE found.classid = 'pg_class'::regclass AND inhparent = found.objid AND relkind = 'r'
    ) AS further)
    SELECT classid::regclass::text AS catalog, objid FROM found"""
TABLES = """SELECT c.oid, c.oid::regclass::text AS name, relkind::text AS kind, jsonb_build_object('kind', relkind,
    'columns', (SELECT jsonb_agg(jsonb_build_array(attname, format_type(atttypid, atttypmod), attgenerated,
            CASE WHEN attgenerated <> '' THEN pg_get_expr(adbin, adrelid) END) ORDER BY attnum)
        FROM pg_attribute LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum)
        WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
            AND (NOT c.oid = ANY (%(plain)s::oid[]) OR relkind IN ('v', 'm') OR attgenerated <> '')),
    'query', CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
    'options', CASE WHEN relkind = 'v' THEN reloptions END,
    'relation', CASE WHEN relkind NOT IN ('v', 'm') AND EXISTS (SELECT FROM pg_depend AS d
        JOIN pg_rewrite AS r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass
        WHERE ev_class = ANY (%(tables)s::oid[]) AND refclassid = 'pg_class'::regclass
            AND refobjid IN (SELECT c.oid UNION ALL SELECT inhparent FROM pg_inherits WHERE inhrelid = c.oid))
        THEN c.oid END,
    'secured', jsonb_build_array(relrowsecurity, relforcerowsecurity),
    'policies', (SELECT jsonb_agg(jsonb_build_array(polname, polcmd, polpermissive, pg_get_expr(polqual, polrelid),
            (SELECT jsonb_agg(rolname ORDER BY rolname) FROM pg_roles AS r WHERE r.oid = ANY (polroles)))
        ORDER BY polname) FROM pg_policy WHERE polrelid = c.oid AND relrowsecurity),
    'readers', CASE WHEN relrowsecurity THEN (SELECT jsonb_agg(jsonb_build_array(r.rolname,
            r.rolsuper OR r.rolbypassrls, pg_has_role(r.oid, c.relowner, 'usage'),
            (SELECT jsonb_agg(polname ORDER BY polname) FROM pg_policy WHERE polrelid = c.oid AND EXISTS (
                SELECT FROM unnest(polroles) AS role WHERE role = 0 OR pg_has_role(r.oid, role, 'usage'))))
        ORDER BY r.rolname) FROM pg_roles AS r WHERE r.rolname = current_user OR r.oid IN (
            SELECT v.relowner FROM pg_class AS v WHERE v.oid = ANY (%(tables)s::oid[]) AND v.relkind IN ('v', 'm')))
        END,
    'heirs', (SELECT jsonb_agg(inhrelid::regclass::text ORDER BY inhrelid::regclass::text)
        FROM pg_inherits WHERE inhparent = c.oid AND relkind = 'r'),
    'foreign', (SELECT jsonb_build_array(ftoptions, srvname, srvoptions) FROM pg_foreign_table
        JOIN pg_foreign_server AS s ON s.oid = ftserver WHERE ftrelid = c.oid)
    )::text AS text, CASE WHEN relkind = 'm' THEN pg_get_viewdef(c.oid) END AS query
    FROM pg_class AS c WHERE c.oid = ANY (%(tables)s::oid[])"""
FUNCTIONS = """SELECT p.oid, p.oid::regprocedure::text AS name, provolatile::text AS volatile,
    coalesce(pg_get_function_sqlbody(p.oid), prosrc) AS body,
    (SELECT lanname::text FROM pg_language AS l WHERE l.oid = prolang) AS language, proconfig AS settings,
    jsonb_build_array(provolatile, proconfig, (SELECT to_jsonb(a) FROM pg_aggregate AS a WHERE aggfnoid = p.oid),
        probin, CASE WHEN prokind <> 'a' THEN pg_get_functiondef(p.oid) END)::text AS text
    FROM pg_proc AS p WHERE p.oid = ANY (%(functions)s::oid[])"""
OPERATORS = """SELECT o.oid::regoperator::text AS name, oprcode::regprocedure::text AS text
    FROM pg_operator AS o WHERE o.oid = ANY (%(operators)s::oid[])"""
# Where the role's path finds them: the catalogs are read by another session, which has no path.
NAMED_TABLES = """SELECT DISTINCT found.oid FROM pg_catalog.unnest(%s::text[]) AS name
    CROSS JOIN LATERAL (SELECT pg_catalog.to_regclass(name)::pg_catalog.oid AS oid) AS found
    WHERE found.oid IS NOT NULL"""
NAMED_FUNCTIONS = """SELECT oid, proname::text, pronamespace <> 'pg_catalog'::pg_catalog.regnamespace AS own,
    provolatile::text, proretset
    FROM pg_catalog.pg_proc WHERE proname = ANY (%s::pg_catalog.text[]::pg_catalog.name[])"""
# Functions behind operators of these symbols, and behind casts, that neither the server nor an extension brought. No
# text tells which of them it means: any cast may be made unasked, any operator by the types beside it.
OPERATED = """SELECT made.function::oid AS oid FROM (
        SELECT 'pg_operator'::regclass::oid AS catalog, oid, oprcode AS function FROM pg_operator
        WHERE oprname = ANY (%s::text[]::name[])
        UNION ALL SELECT 'pg_cast'::regclass::oid, oid, castfunc FROM pg_cast WHERE castfunc <> 0
    ) AS made WHERE oid >= 16384 AND NOT EXISTS (
        SELECT FROM pg_depend AS d WHERE (d.classid, d.objid, d.deptype) = (made.catalog, made.oid, 'e'))"""
# Nodes of a plan that give each row of a table once or not at all, by what is in that row.
ROW_BY_ROW = {
    "Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan", "Bitmap Index Scan", "BitmapAnd", "BitmapOr",
    "Tid Scan", "Tid Range Scan", "Gather", "Gather Merge", "Sort", "Incremental Sort", "Materialize",
    "Subquery Scan", "Result",
}  # fmt: skip
NODES = {
    "Limit": "limit",
    "Unique": "limit",
    "Sample Scan": "sample",
    "WindowAgg": "window",
    "Aggregate": "aggregate",
    "Group": "aggregate",
    **dict.fromkeys(("Nested Loop", "Hash Join", "Merge Join", "Hash", "Memoize"), "join"),
    "SetOp": "union",
    **dict.fromkeys(("CTE Scan", "Recursive Union", "WorkTable Scan"), "subquery"),
    **dict.fromkeys(("ProjectSet", "Function Scan", "Table Function Scan", "Values Scan"), "rows"),
    "Foreign Scan": "foreign",
}
# The server's own functions that are not called volatile, and read tables, numbers of rows or of writers, or settings.
READING = re.compile(
    r"pg_stat_get_\w+|(?:table|schema|database)_to_xml\w*|current_setting|pg_show_all_settings"
    r"|txid_current\w*|mxid_age|pg_current_(?:xact_id|snapshot)\w*|pg_(?:relation_filenode|sequence_parameters)"
)
# Of a row where it lies and when it was written, and a transaction's number, whose age goes by how many came after it:
# other rows decide on that.
PLACED = re.compile(r"\b(?:ctid|[xc]min|[xc]max)\b|::xid8?\b")
# Languages in whose functions a table can be read only by a name, or by EXECUTE; or that administrators alone bring.
READ_BY_NAME, DYNAMIC = {"sql", "plpgsql", "c", "internal"}, re.compile(r"\bexecute\b", re.IGNORECASE)
# A path on which a function seeks names that its session does not.
OWN_PATH = re.compile(r"search_path=(?!(?:pg_catalog|pg_temp|[\s,\"'])*$)")
APPENDS = ("Append", "Merge Append")
# What of a node is a name or a word, and no expression.
NAMES = {"Node Type", "Relation Name", "Schema", "Alias", "Index Name", "Parent Relationship", "Plans"}
CALLED = re.compile(r'(\w+|"(?:[^"]|"")+")\(')
SYMBOLS = re.compile(r"[-+*/<>=~!@#%^&|`?]+")
# What LIKE, SIMILAR, IN, BETWEEN, CASE and their like mean.
WORDED = {"=", "<>", "<", ">", "<=", ">=", "~~", "!~~", "~~*", "!~~*", "~", "!~"}


class Catalogs(Protocol):
    """Runs a statement and gives its rows."""

    def __call__(self, statement: str, values: QueryValues = None) -> list[Json]: ...


class Explainer(Protocol):
    """Gives every node of the plan of a query. Raises SourceFault."""

    def __call__(self, statement: str) -> PlanNodes: ...


@dataclass(frozen=True)
class PostgresDefinitions:
    """named: finds names as the counting session does. catalogs: a session that sees what is there now.

    parents: gives the tables that a table, by its schema and name, is part of.
    """

    named: Catalogs
    catalogs: Catalogs
    plan: Explainer
    parents: Callable[[str, str], list[Json]]

    def definition(self, table: ServerTable, source: str) -> SourceDefinition:
        """What stands behind FROM, and what that is made of."""
        texts = {"query": table.query.strip()} if table.query else {}
        named = texts["query"] if table.query else source
        tables, functions = self._named([named], with_functions=bool(table.query))
        plain = [] if table.query else list(tables)
        shifts = self._shifts(self.plan(f"SELECT * FROM {source}"))  # noqa: S608 quoted already
        while True:
            parts = self._parts(tables, functions)
            rows = self.catalogs(FUNCTIONS, {"functions": parts["pg_proc"]})
            further, more = self._named([row["body"] for row in rows], with_functions=True)
            reads = bool(further or self._parts([], parts["pg_proc"])["pg_class"])
            if further <= set(parts["pg_class"]) and more <= set(parts["pg_proc"]):
                break
            tables, functions = tables | further, functions | more
        known = self.catalogs(TABLES, {"tables": parts["pg_class"], "plain": plain})
        operators = self.catalogs(OPERATORS, {"operators": parts["pg_operator"]})
        texts |= {row["name"]: row["text"] for row in [*known, *rows, *operators]}
        shifts |= {"function" for row in rows if reads or not _is_of_its_row(row)}
        shifts |= {"volatile" for row in rows if self._reads_more(row["body"])}
        shifts |= {shift for row in known if row["query"] for shift in self._within(row["query"])}
        return SourceDefinition.of(texts, shifts)

    def _parts(self, tables: Collection[int], functions: Collection[int]) -> dict[str, list[int]]:
        parts: dict[str, list[int]] = {"pg_class": [], "pg_proc": [], "pg_operator": []}
        for row in self.catalogs(PARTS, {"tables": list(tables), "functions": list(functions)}):
            parts[row["catalog"]].append(row["objid"])
        return parts

    def _named(self, texts: Iterable[str], *, with_functions: bool) -> tuple[set[int], set[int]]:
        """The tables, and somebody's own functions, that texts may name; more than they do rather than less."""
        plain = "\n".join(map(lexer.without_constants, texts))
        chains = [lexer.names_of(chain) for chain in lexer.CHAIN.findall(plain)]
        names = {".".join(map(_quoted, pair)) for chain in chains for pair in _pairs(chain)}
        tables = {row["oid"] for row in self.named(NAMED_TABLES, [sorted(names)])}
        if not with_functions:
            return tables, set()
        last = sorted({name for chain in chains for name in chain})
        rows = self.named(NAMED_FUNCTIONS, [last])
        operated = self.catalogs(OPERATED, [sorted(_symbols(plain))])
        return tables, {row["oid"] for row in rows if row["own"]} | {row["oid"] for row in operated}

    def _within(self, query: str) -> set[str]:
        """Of a materialised view, whose query is not in the plan of those that read it."""
        try:
            return self._shifts(self.plan(query.strip().rstrip(";")))
        except SourceFault:
            return {"hidden"}

    def _shifts(self, plan: PlanNodes) -> set[str]:
        shifts = set()
        for node in plan:
            kind = node["Node Type"]
            if kind in APPENDS:
                shifts |= set() if self._of_one_table(node) else {"union"}
            elif kind not in ROW_BY_ROW:
                shifts.add(NODES.get(kind, "unknown"))
            if node.get("Parent Relationship") in ("InitPlan", "SubPlan"):
                shifts.add("subquery")
            if any(PLACED.search(text) for text in _expressions(node)):
                shifts.add("place")
        return shifts | self._called(sorted({name for node in plan for name in _called(node)}))

    def _of_one_table(self, append: Json) -> bool:
        """Whether what is put together are parts of one table, each once."""
        parts = [_relation(node) for node in append.get("Plans", [])]
        if None in parts or len(set(parts)) < len(parts):
            return False
        ancestors = [set(self._ancestors(part)) for part in parts if part]
        return bool(set.intersection(*ancestors)) if ancestors else True

    def _ancestors(self, part: tuple[str, str]) -> Iterator[tuple[str, str]]:
        for row in self.parents(part[0], part[1]):
            if (ancestor := (row["schema"], row["name"])) != part:
                yield ancestor

    def _called(self, names: Sequence[str]) -> set[str]:
        """What functions of a plan do beside giving a value of their arguments."""
        shifts = set()
        for row in self.named(NAMED_FUNCTIONS, [list(names)]):
            if _is_unsteady(row):
                shifts.add("volatile")
            if row["proretset"]:
                shifts.add("rows")
            if row["own"] and row["provolatile"] != "i":
                shifts.add("function")
        return shifts

    def _reads_more(self, body: str) -> bool:
        """Whether the text of a function may name one of the server's that gives more than a value of its arguments.

        No plan shows it, and what a function says of itself binds nobody.
        """
        chains = map(lexer.names_of, lexer.CHAIN.findall(lexer.without_constants(body)))
        names = sorted({name for chain in chains for name in chain})
        return any(not row["own"] and _is_unsteady(row) for row in self.named(NAMED_FUNCTIONS, [names]))


def _is_unsteady(function: Json) -> bool:
    """Whether a function gives something else each time, or is one of the server's that reads more than its row."""
    reads = not function["own"] and READING.fullmatch(function["proname"])
    return function["provolatile"] == "v" or bool(reads)


def _relation(node: Json) -> tuple[str, str] | None:
    while "Relation Name" not in node and len(node.get("Plans", [])) == 1:
        node = node["Plans"][0]
    return (node.get("Schema", ""), node["Relation Name"]) if "Relation Name" in node else None


def _is_of_its_row(function: Json) -> bool:
    """Whether somebody's own function says that it looks at its arguments alone, and seeks no table unseen."""
    immutable = function["volatile"] == "i" and function["language"] in READ_BY_NAME
    composed = function["language"] == "plpgsql" and DYNAMIC.search(function["body"])
    return immutable and not composed and not any(map(OWN_PATH.match, function["settings"] or []))


def _called(node: Json) -> Iterator[str]:
    for text in _expressions(node):
        for name in CALLED.findall(text):
            yield lexer.names_of(name)[0]


def _expressions(node: Json) -> Iterator[str]:
    """The expressions of a node of a plan, without the texts in them."""
    for key, value in node.items():
        if key not in NAMES:
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str):
                    yield lexer.without_constants(text)


def _symbols(text: str) -> set[str]:
    """Each operator that may stand in a text: the server parts "=-" of "a=-1" in two."""
    runs = set(SYMBOLS.findall(text))
    return WORDED | {run[i:j] for run in runs for i in range(len(run)) for j in range(i + 1, len(run) + 1)}


def _pairs(chain: Sequence[str]) -> Iterable[Sequence[str]]:
    return [[name] for name in chain[:1]] + [chain[place : place + 2] for place in range(len(chain) - 1)]


def _quoted(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))
