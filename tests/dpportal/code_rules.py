"""What no import tells: rules about calls and names, each a function of a module's syntax tree.

What modules import is checked by import-linter, whose contracts are in pyproject.toml. Each rule yields what breaks it;
the names that rules look for are in `code_lists.py`. A rule sees through `import … as`, `from … import … as`, an
assignment of an imported name, and `getattr` with a constant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.dpportal import code_lists as lists
from tests.dpportal.code_lists import NOISE, RECORDS, TABLES

ROOT = Path(__file__).resolve().parents[2]


# `np.random.…` that is called or passed on, not the type of a generator that was handed in.
NUMPY_RANDOM = re.compile(r"\.random\.(?!Generator\b)")
# What these names mean where nothing is imported under them, as of a module that was handed in.
USUAL = {"records": RECORDS, "raw_tables": TABLES, "ledger": "dpportal.budgets.ledger"}


@dataclass(frozen=True)
class Source:
    """A module of the project: its dotted name and its syntax tree."""

    name: str
    tree: ast.Module

    @classmethod
    def of(cls, name: str, text: str) -> Source:
        return cls(name, ast.parse(text))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    def imports(self) -> Iterator[str]:
        """The dotted name of everything that is imported, wherever in the file."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        """Every call with the last part of what is called: `pq.read_table(…)` as "read_table"."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield _last(node.func), node

    def names(self) -> Iterator[str]:
        """The last part of everything that is spoken of or imported: a function that is passed on, too."""
        yield from (_last(node) for node in self.nodes if isinstance(node, ast.Attribute | ast.Name))
        yield from (imported.rpartition(".")[2] for imported in self.imports())

    def texts(self) -> Iterator[str]:
        """Every constant text that is used: no docstring."""
        said = {id(n.value) for n in self.nodes if isinstance(n, ast.Expr)}
        constants = (n for n in self.nodes if isinstance(n, ast.Constant) and id(n) not in said)
        yield from (n.value for n in constants if isinstance(n.value, str))

    def dotted_names(self) -> Iterator[str]:
        """The last two parts of every attribute: `self.sys.modules` as "sys.modules"."""
        yield from (f"{_last(n.value)}.{n.attr}" for n in self.nodes if isinstance(n, ast.Attribute))

    @cached_property
    def imported_names(self) -> dict[str, str]:
        """What each imported or so assigned name stands for: of `from dpportal.datasets import records as r`, r."""
        known = dict(USUAL)
        for node in self.nodes:
            if isinstance(node, ast.Import):
                known |= {alias.asname: alias.name for alias in node.names if alias.asname}
            elif isinstance(node, ast.ImportFrom):
                known |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        for node in self.nodes:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute | ast.Name):
                meant = _resolved(node.value, known)
                if "." in meant:
                    known |= {
                        t.id: meant for t in node.targets if isinstance(t, ast.Name) and t.id not in known
                    }
        return known

    @cached_property
    def full_names(self) -> set[str]:
        """Everything that is spoken of, by the name of the module that has it, whatever it is called here."""
        spoken = (n for n in self.nodes if isinstance(n, ast.Attribute | ast.Name | ast.Call))
        return {_resolved(node, self.imported_names) for node in spoken} | set(self.imports())

    def assigned_from(self, makers: set[str]) -> set[str]:
        """The last part of every name that is given what one of these functions returns."""
        given = ((n.value, n.targets) for n in self.nodes if isinstance(n, ast.Assign))
        made = ((self.full_name(v.func), targets) for v, targets in given if isinstance(v, ast.Call))
        return {_last(t) for maker, targets in made if maker.rpartition(".")[2] in makers for t in targets}

    def full_name(self, node: ast.AST) -> str:
        return _resolved(node, self.imported_names)

    def inside(self, *packages: str) -> bool:
        return any(self.name == p or self.name.startswith(f"{p}.") for p in packages)


def _resolved(node: ast.AST, known: dict[str, str]) -> str:
    """A dotted name with its first part as `known` has it; that of `getattr(r, "count")` too; else empty."""
    if isinstance(node, ast.Name):
        return known.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_resolved(node.value, known)}.{node.attr}"
    if isinstance(node, ast.Call) and _last(node.func) == "getattr" and len(node.args) > 1:
        held, name = node.args[:2]
        return f"{_resolved(held, known)}.{name.value!s}" if isinstance(name, ast.Constant) else ""
    return ""


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


@cache
def project() -> list[Source]:
    paths = [p for package in ("dpportal", "mechanisms") for p in (ROOT / package).rglob("*.py")]
    return [Source.of(_dotted(path), path.read_text()) for path in paths if "migrations" not in path.parts]


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def importers_of_parts(source: Source) -> Iterator[str]:
    """Whoever imports a part of a package that is for others."""
    for part, allowed, about in lists.PARTS:
        if source.inside(*about) and not source.inside(*allowed):
            spoken = source.full_names - lists.TYPES_OF_PARTS
            imported = set(source.imports())
            yield from (
                n for n in spoken | imported if n.startswith(f"{part}.") or (n == part and n in imported)
            )


def hidden_importers(source: Source) -> Iterator[str]:
    """Whoever imports, or gets at another room's models, by a text that no list of imports shows."""
    if not source.inside(*lists.IMPORTING_LATE):
        yield from lists.HIDDEN_IMPORTS.intersection(
            {*source.names(), *source.imports(), *source.dotted_names()}
        )


def readers_of_records(source: Source) -> Iterator[str]:
    """Whoever but the room of records reads a table, opens a file of records, or asks where one lies."""
    if source.inside(TABLES, RECORDS, "dpportal.platform.storage", lists.VERIFIER, lists.CLIENT):
        return
    yield from lists.READERS_OF_TABLES.intersection(source.names())
    for name, call in source.calls():
        opened = {_last(n) for argument in call.args for n in ast.walk(argument)}
        opened |= {n.attr for n in ast.walk(call.func) if isinstance(n, ast.Attribute)}
        if name in lists.OPENERS and lists.FILES_OF_RECORDS & opened:
            yield f"{name}({', '.join(sorted(lists.FILES_OF_RECORDS & opened))})"
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name == "path" and holder is not None and _last(holder) == "default_storage":
            yield "default_storage.path"


def counters_of_people(source: Source) -> Iterator[str]:
    """Whoever has people counted, or reads what was counted, but the jobs that budget is spent for."""
    if source.inside(*lists.COUNTING):
        return
    for name in source.full_names:
        room, _, function = name.rpartition(".")
        if name.startswith(f"{TABLES}.") and function in lists.COUNTS_OF_TABLES:
            yield name
        is_of_records = room == RECORDS and function in functions_of_records()
        is_guarded = (is_of_records and function not in lists.WITHOUT_RECORDS) or name in lists.FOR_CURATORS
        if is_guarded and source.name not in lists.FOR_CURATORS.get(name, ()):
            yield name


@cache
def functions_of_records() -> frozenset[str]:
    """Every public function that the room of records defines, or has from another module to pass on."""
    tree = ast.parse((ROOT / Path(*RECORDS.split("."))).with_suffix(".py").read_text())
    here = (n.name for n in tree.body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_"))
    lent = (
        a.asname for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names if a.asname == a.name
    )
    return frozenset(name for name in (*here, *lent) if name)


def speakers_of_sql(source: Source) -> Iterator[str]:
    """Whoever writes lists.SQL to the portal's database, past models and their refusals."""
    if source.inside("dpportal") and not source.inside(*lists.SPEAKING_SQL):
        yield from (name for name, _call in source.calls() if name in lists.SQL)
        yield from (i for i in source.imports() if i == "sqlite3" or i.endswith(".RawSQL"))


def writers_past_guards(source: Source) -> Iterator[str]:
    """Whoever writes rows by a query that is not their model's own, or gives a guarded model another manager."""
    if not source.inside("dpportal") or source.inside("dpportal.budgets.models"):
        return
    yield from lists.WRITERS_PAST_GUARDS.intersection(name for name, _call in source.calls())
    yield from (i for i in source.imports() if i.startswith("django.db.models.sql"))
    yield from (i for i in source.imports() if i == "django.db.models.deletion.Collector")
    yield from ("QuerySet(…)" for name, _call in source.calls() if name == "QuerySet")
    yield from (name for name in source.dotted_names() if name.startswith("QuerySet."))
    classes = (node for node in source.nodes if isinstance(node, ast.ClassDef))
    yield from (c.name for c in classes if lists.GUARDED.intersection(_last(base) for base in c.bases))


def borrowers_of_doors(source: Source) -> Iterator[str]:
    """Whoever opens a guard by the name it has in the module that may."""
    for door, owners in lists.DOORS.items():
        if not source.inside(*owners):
            modules = {owner.rpartition(".")[2] for owner in owners}
            spoken = (name for name in source.full_names if name.endswith(f".{door}"))
            yield from (name for name in spoken if name.startswith(tuple(f"{owner}." for owner in owners)))
            yield from (
                name for name in source.dotted_names() if name in {f"{module}.{door}" for module in modules}
            )


def drawers_of_randomness(source: Source) -> Iterator[str]:
    """Whoever but `mechanisms.noise` draws a random number; keys and passwords are not draws on data."""
    if source.inside(NOISE, *lists.MAKERS_OF_KEYS):
        return
    yield from lists.RANDOM_NAMES.intersection(name for name, _call in source.calls())
    yield from (n for n in source.full_names if n.rpartition(".")[2] in lists.RANDOM_NAMES - {"Generator"})
    yield from (n for n in source.full_names if NUMPY_RANDOM.search(n))
    yield from (text for text in source.texts() if any(each in text for each in lists.RANDOM_TEXTS))
    yield from (ast.unparse(n) for n in source.nodes if isinstance(n, ast.BinOp) and _is_remainder(n))
    yield from ("shuffled rows" for name, call in source.calls() if name == "sample" and _shuffles(call))
    yield from (
        f"{name}(uuid4())" for name, call in source.calls() if name in {"int", "hash"} and _of_uuid(call)
    )
    yield from (f"uuid4().{n.attr}" for n in source.nodes if isinstance(n, ast.Attribute) and _is_number(n))


def _is_remainder(node: ast.BinOp) -> bool:
    """Of a clock or a hash, by `%`."""
    calls = (n for n in ast.walk(node.left) if isinstance(n, ast.Call))
    return isinstance(node.op, ast.Mod) and any(_last(call.func) in lists.CLOCKS for call in calls)


def _shuffles(call: ast.Call) -> bool:
    return bool({"frac", "n", "random_state"}.intersection(k.arg for k in call.keywords))


def _of_uuid(call: ast.Call) -> bool:
    parts = (node for argument in call.args for node in ast.walk(argument))
    return any(isinstance(node, ast.Call) and _last(node.func) == "uuid4" for node in parts)


def _is_number(node: ast.Attribute) -> bool:
    """A random name that is taken for a number."""
    made = node.value
    of_call = isinstance(made, ast.Call) and _last(made.func) == "uuid4"
    return node.attr in (lists.NUMBERS_OF_A_UUID if of_call else lists.NUMBERS_OF_UUIDS_ALONE)


def makers_of_noise(source: Source) -> Iterator[str]:
    """Whoever but the mechanisms makes a source of noise; the portal's two have theirs from `secret_noise`."""
    if not source.inside("mechanisms"):
        called = {name for _last, call in source.calls() if (name := source.full_name(call.func))}
        yield from (name for name in called if name.rpartition(".")[2] == "Noise")


def loggers_of_data(source: Source) -> Iterator[str]:
    """Whoever logs, or prints, something that is neither an id nor words: it could be a count or a value."""
    yield from (
        i for i in source.imports() if i.startswith("logging.") and i.rpartition(".")[2] in lists.LOG_LEVELS
    )
    logs = source.assigned_from(lists.LOG_MAKERS)
    for name, call in source.calls():
        printed = name == "print" and isinstance(call.func, ast.Name)
        if (printed and not source.inside(lists.VERIFIER)) or source.full_name(call.func) in lists.PRINTERS:
            yield name
        if (
            name in lists.LOG_LEVELS
            and isinstance(call.func, ast.Attribute)
            and _is_log(call.func.value, logs)
        ):
            yield from (ast.unparse(argument) for argument in call.args if not _may_be_logged(argument))
            # The one place that adds fields to a line has them from a claim.
            if not source.inside("dpportal.jobs.event_log"):
                yield from (k.arg for k in call.keywords if k.arg == "extra")


def _is_log(node: ast.expr, logs: set[str]) -> bool:
    """`log`, `self._logger`, `LOGGER`, `logging.getLogger(…)` on the spot, and one of these under another name."""
    made = isinstance(node, ast.Call) and _last(node.func) in lists.LOG_MAKERS
    return made or _last(node) in logs or _last(node).strip("_").lower() in {"log", "logger", "logging"}


def tellers_of_counts(source: Source) -> Iterator[str]:
    """Whoever puts a variable of counts into a fault's text or a message to a person, or composes a message itself."""
    for node in source.nodes:
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            yield from (c for argument in node.exc.args for c in _counts_in(argument))
        if isinstance(node, ast.Call) and "messages" in source.full_name(node.func).split("."):
            yield from (c for argument in node.args for c in _counts_in(argument))
            yield from (
                ast.unparse(argument) for argument in node.args if isinstance(argument, ast.JoinedStr)
            )


def _counts_in(node: ast.AST) -> Iterator[str]:
    """Variables of counts in an expression, but their shapes and lengths."""
    if isinstance(node, ast.Attribute) and node.attr in lists.SHAPES:
        return
    if isinstance(node, ast.Call) and _last(node.func) in {"len", "type"}:
        return
    if _last(node) in lists.NAMES_OF_COUNTS:
        yield ast.unparse(node)
    for child in ast.iter_child_nodes(node):
        yield from _counts_in(child)


def openers_in_pure_rooms(source: Source) -> Iterator[str]:
    """Whoever opens a file where arrays come in and figures go out."""
    if source.inside(lists.PURE):
        yield from (name for name, _call in source.calls() if name in {"open", "fdopen", "input"})


def _may_be_logged(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Call):
        return _last(node.func) in lists.LOGGED_CALLS
    if isinstance(node, ast.IfExp):
        return _may_be_logged(node.body) and _may_be_logged(node.orelse)
    if isinstance(node, ast.Subscript):
        return _may_be_logged(node.value)
    return _last(node) in (lists.LOGGED_ATTRIBUTES if isinstance(node, ast.Attribute) else lists.LOGGED_NAMES)


Rule = Callable[[Source], Iterable[str]]
RULES: list[Rule] = [
    importers_of_parts,
    hidden_importers,
    readers_of_records,
    counters_of_people,
    speakers_of_sql,
    writers_past_guards,
    borrowers_of_doors,
    drawers_of_randomness,
    makers_of_noise,
    loggers_of_data,
    tellers_of_counts,
    openers_in_pure_rooms,
]
