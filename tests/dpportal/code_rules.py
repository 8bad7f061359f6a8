"""What no import tells: rules about calls and names, each a function of a module's syntax tree.

What modules import is checked by import-linter, whose contracts are in pyproject.toml. Each rule yields what breaks it;
the names that rules look for are in `code_lists.py`. A rule sees through `import … as`, `from … import … as`, a name
that is given an imported one, by whatever statement or default, `getattr` and `vars` with a constant: `code_source.py`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from tests.dpportal import code_lists as lists
from tests.dpportal.code_lists import NOISE, RECORDS, TABLES
from tests.dpportal.code_source import ROOT, Source, last

# `np.random.…` that is called or passed on, not the type of a generator that was handed in.
NUMPY_RANDOM = re.compile(r"\.random\.(?!Generator\b)")


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
        opened = {last(n) for argument in call.args for n in ast.walk(argument)}
        opened |= {n.attr for n in ast.walk(call.func) if isinstance(n, ast.Attribute)}
        if name in lists.OPENERS and lists.FILES_OF_RECORDS & opened:
            yield f"{name}({', '.join(sorted(lists.FILES_OF_RECORDS & opened))})"
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name == "path" and holder is not None and last(holder) == "default_storage":
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
    """Whoever writes SQL to the portal's database, past models and their refusals."""
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
    yield from (
        c.name
        for c in classes
        if lists.GUARDED.intersection(source.full_name(base).rpartition(".")[2] for base in c.bases)
    )


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
    yield from (n for n in source.full_names if NUMPY_RANDOM.search(n) or n in lists.RANDOM_FUNCTIONS)
    yield from (text for text in source.texts() if any(each in text.lower() for each in lists.RANDOM_TEXTS))
    yield from _remainders(source)
    yield from (f"{name}(…)" for name, call in source.calls() if _shuffles(name, call))
    uuids = source.assigned_from({"uuid4"})
    yield from (
        f"{name}(uuid4())"
        for name, call in source.calls()
        if name in {"int", "hash"} and any(_made_by(source, a, {"uuid4"}, uuids) for a in call.args)
    )
    yield from (f"uuid4().{n.attr}" for n in source.nodes if isinstance(n, ast.Attribute) and _is_number(n))


def _remainders(source: Source) -> Iterator[str]:
    """Of a clock or a hash, by `%`, `&` or `divmod`."""
    clocks = source.assigned_from(lists.CLOCKS)
    for node in source.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.BitAnd):
            divided = [node.left] if isinstance(node.op, ast.Mod) else [node.left, node.right]
        elif isinstance(node, ast.Call) and last(node.func) == "divmod":
            divided = node.args[:1]
        else:
            continue
        if any(_made_by(source, each, lists.CLOCKS, clocks) for each in divided):
            yield ast.unparse(node)


def _made_by(source: Source, node: ast.expr, makers: set[str], names: set[str]) -> bool:
    """Whether an expression has a call of a maker, or a variable that was given one's result."""
    variables = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    return source.calls_within(node, makers) or not names.isdisjoint(variables)


def _shuffles(name: str, call: ast.Call) -> bool:
    """Rows of a frame in another order, or some of them; rows of the database."""
    if name == "sample":
        named = {"frac", "n", "random_state"}.intersection(k.arg for k in call.keywords)
        return bool(named) or len(call.args) < 2
    return name == "order_by" and any(isinstance(a, ast.Constant) and a.value == "?" for a in call.args)


def _is_number(node: ast.Attribute) -> bool:
    """A random name that is taken for a number."""
    made = node.value
    of_call = isinstance(made, ast.Call) and last(made.func) == "uuid4"
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
        printed = source.full_name(call.func) in {"print", "builtins.print"}
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
    made = isinstance(node, ast.Call) and last(node.func) in lists.LOG_MAKERS
    return made or last(node) in logs or last(node).strip("_").lower() in {"log", "logger", "logging"}


def tellers_of_counts(source: Source) -> Iterator[str]:
    """Whoever puts a variable of counts into a fault or a message to a person, or composes a message itself."""
    for node in source.nodes:
        yield from (c for part in _told_parts(source, node) for c in _counts_in(part))
        if isinstance(node, ast.Call) and _is_message(source, node):
            yield from (ast.unparse(part) for part in _parts(node) if isinstance(part, ast.JoinedStr))


def _told_parts(source: Source, node: ast.AST) -> list[ast.expr]:
    """What of a statement or a call people read."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        return _parts(node.exc)
    if isinstance(node, ast.Call):
        name = source.full_name(node.func).rpartition(".")[2]
        is_told = name in lists.TELLERS or lists.NAMES_OF_FAULTS.search(name)
        return _parts(node) if is_told or _is_message(source, node) else []
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        held = (t.attr for t in targets if isinstance(t, ast.Attribute))
        return [node.value] if lists.SHOWN_ATTRIBUTES.intersection(held) else []
    return []


def _is_message(source: Source, call: ast.Call) -> bool:
    return "messages" in source.full_name(call.func).split(".")


def _parts(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def _counts_in(node: ast.AST) -> Iterator[str]:
    """Variables of counts in an expression, but their shapes and lengths."""
    if isinstance(node, ast.Attribute) and node.attr in lists.SHAPES:
        return
    if isinstance(node, ast.Call) and last(node.func) in {"len", "type"}:
        return
    if last(node) in lists.NAMES_OF_COUNTS:
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
        return last(node.func) in lists.LOGGED_CALLS
    if isinstance(node, ast.IfExp):
        return _may_be_logged(node.body) and _may_be_logged(node.orelse)
    if isinstance(node, ast.Subscript):
        return _may_be_logged(node.value)
    return last(node) in (lists.LOGGED_ATTRIBUTES if isinstance(node, ast.Attribute) else lists.LOGGED_NAMES)


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
