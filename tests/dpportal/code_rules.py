"""What no import tells: rules about calls and names, each a function of a module's syntax tree.

What modules import is checked by import-linter, whose contracts are in pyproject.toml. Each rule yields what breaks it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

TABLES, RECORDS, NOISE = "dpportal.tables", "dpportal.datasets.records", "mechanisms.noise"
# Parts of packages, which import-linter sees whole, with who may import them; the third names whom it is about.
PARTS: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [
    ("numpy.random", (NOISE,), ("dpportal", "mechanisms")),
    ("pyarrow.dataset", (TABLES,), ("dpportal", "mechanisms")),
    ("django.db", (), ("dpportal.charts",)),
    ("django.core.files", (), ("dpportal.charts",)),
]
# Imports that no list of imports shows, with who may use them.
HIDDEN_IMPORTS = {
    "import_module",
    "__import__",
    "exec",
    "eval",
    "exec_module",
    "run_module",
    "import_string",
    "resolve_name",
    "get_model",
    "get_app_config",
    "all_models",
    "sys.modules",
}
IMPORTING_LATE = (TABLES, "dpportal.apps")
READERS_OF_TABLES = {
    "read_table",
    "read_parquet",
    "ParquetFile",
    "ParquetDataset",
    "iter_batches",
    "read_csv",
    "read_excel",
    "read_feather",
    "IpcFileFormat",
    "read_orc",
    "scan_parquet",
    "memory_map",
    "OSFile",
    "load_workbook",
    "from_parquet",
}
# Attributes that name files of records, and what opens a file or tells where it lies.
FILES_OF_RECORDS = {"table", "upload", "true_counts"}
OPENERS = {
    "local_path",
    "open",
    "Path",
    "joinpath",
    "read_bytes",
    "read_text",
    "load",
    "memmap",
    "copy",
    "copy2",
    "copyfile",
}
# A program of its own for whoever has a published bundle, and nothing else.
VERIFIER = "mechanisms.verify"
# A program of its own for whoever asks a portal by HTTP; what it reads as tables is published.
CLIENT = "dpportal.api.dpclient"
# What returns true counts, and who may have them.
COUNTS = {
    "count",
    "count_each",
    "count_tables",
    "count_upload",
    "stored_counts",
    "packed_rows",
    "people_by_value",
}
COUNTING = (
    TABLES,
    RECORDS,
    "dpportal.releases.execution",
    "dpportal.releases.products",
    "dpportal.streams.job_execution",
    "dpportal.value_choices.execution",
)
# Who talks to the portal's database in SQL.
SPEAKING_SQL = (
    "dpportal.accounts.permissions",
    "dpportal.datasets.dead_rows",
    "dpportal.datasets.key_traces",
    "dpportal.operations.database_integrity",
    "dpportal.operations.portal_tables",
    "dpportal.operations.strange_objects",
    "dpportal.platform.triggers",
    "dpportal.jobs.clock",
    "dpportal.jobs.lock_timeouts",
    TABLES,
)
SQL = {"cursor", "chunked_cursor", "schema_editor", "extra", "raw", "RawSQL", "executescript", "_raw_delete"}
# What writes rows past the managers and `save` of their model, that is past what refuses.
WRITERS_PAST_GUARDS = {"save_base", "UpdateQuery", "InsertQuery", "DeleteQuery", "Collector"}
GUARDED = {"Budget", "LedgerEntry"}
# What opens a guard, and whose it is: others could take it from there, and its origin's contract would not see that.
DOORS = {
    "writing": ("dpportal.budgets.ledger", "dpportal.budgets.writing"),
    "reading": (RECORDS, "dpportal.platform"),
    "secret_noise": (
        "mechanisms.noise",
        "dpportal.releases.execution",
        "dpportal.streams.execution",
        "dpportal.value_choices.execution",
    ),
}
RANDOM_NAMES = {
    "urandom",
    "default_rng",
    "getrandom",
    "uuid1",
    "RandomState",
    "PCG64",
    "Generator",
    "SystemRandom",
    "randbelow",
    "randbits",
    "token_bytes",
    "rvs",
    "NormalDist",
}
# What of a random name would be a number.
NUMBERS_OF_A_UUID = {"int", "bytes", "bytes_le", "fields", "time", "node", "clock_seq"}
PRINTERS = {"sys.stdout.write", "sys.stderr.write", "warnings.warn"}
LOG_LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}
# What a line of the log may hold besides constants: ids, names of things, faults in words, times.
LOGGED_ATTRIBUTES = {
    "__name__",
    "attempt",
    "attempts",
    "code",
    "kind",
    "key",
    "name",
    "name_of_seal",
    "operation_name",
    "origin",
    "path",
    "pk",
    "strerror",
}
LOGGED_NAMES = {
    "address",
    "code",
    "fault",
    "name",
    "outcome",
    "pause",
    "pk",
    "reason",
    "refusal",
    "release_id",
    "requests",
    "seconds",
    "stream_id",
}
LOGGED_CALLS = {"client_address", "fault_of", "get_username", "refusal_of"}


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

    def dotted_names(self) -> Iterator[str]:
        """The last two parts of every attribute: `self.sys.modules` as "sys.modules"."""
        yield from (f"{_last(n.value)}.{n.attr}" for n in self.nodes if isinstance(n, ast.Attribute))

    def inside(self, *packages: str) -> bool:
        return any(self.name == p or self.name.startswith(f"{p}.") for p in packages)


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
    for part, allowed, about in PARTS:
        if source.inside(*about) and not source.inside(*allowed):
            yield from (i for i in source.imports() if i == part or i.startswith(f"{part}."))


def hidden_importers(source: Source) -> Iterator[str]:
    """Whoever imports, or gets at another room's models, by a text that no list of imports shows."""
    if not source.inside(*IMPORTING_LATE):
        yield from HIDDEN_IMPORTS.intersection({*source.names(), *source.imports(), *source.dotted_names()})


def readers_of_records(source: Source) -> Iterator[str]:
    """Whoever but the room of records reads a table, opens a file of records, or asks where one lies."""
    if source.inside(TABLES, RECORDS, "dpportal.platform.storage", VERIFIER, CLIENT):
        return
    yield from READERS_OF_TABLES.intersection(source.names())
    for name, call in source.calls():
        opened = {_last(n) for argument in call.args for n in ast.walk(argument)}
        opened |= {n.attr for n in ast.walk(call.func) if isinstance(n, ast.Attribute)}
        if name in OPENERS and FILES_OF_RECORDS & opened:
            yield f"{name}({', '.join(sorted(FILES_OF_RECORDS & opened))})"
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name == "path" and holder is not None and _last(holder) == "default_storage":
            yield "default_storage.path"


def counters_of_people(source: Source) -> Iterator[str]:
    """Whoever has people counted, or reads what was counted, but the jobs that budget is spent for."""
    if source.inside(*COUNTING):
        return
    for node in source.nodes:
        if (
            isinstance(node, ast.Attribute)
            and node.attr in COUNTS
            and _last(node.value) in {"records", "raw_tables"}
        ):
            yield f"records.{node.attr}"
    yield from (
        i
        for i in source.imports()
        if i.startswith((f"{RECORDS}.", f"{TABLES}.")) and i.rpartition(".")[2] in COUNTS
    )


def speakers_of_sql(source: Source) -> Iterator[str]:
    """Whoever writes SQL to the portal's database, past models and their refusals."""
    if source.inside("dpportal") and not source.inside(*SPEAKING_SQL):
        yield from (name for name, _call in source.calls() if name in SQL)
        yield from (i for i in source.imports() if i == "sqlite3" or i.endswith(".RawSQL"))


def writers_past_guards(source: Source) -> Iterator[str]:
    """Whoever writes rows by a query that is not their model's own, or gives a guarded model another manager."""
    if not source.inside("dpportal") or source.inside("dpportal.budgets.models"):
        return
    yield from WRITERS_PAST_GUARDS.intersection(name for name, _call in source.calls())
    yield from (i for i in source.imports() if i.startswith("django.db.models.sql"))
    yield from (i for i in source.imports() if i == "django.db.models.deletion.Collector")
    yield from ("QuerySet(…)" for name, _call in source.calls() if name == "QuerySet")
    yield from (name for name in source.dotted_names() if name.startswith("QuerySet."))
    classes = (node for node in source.nodes if isinstance(node, ast.ClassDef))
    yield from (c.name for c in classes if GUARDED.intersection(_last(base) for base in c.bases))


def borrowers_of_doors(source: Source) -> Iterator[str]:
    """Whoever opens a guard by the name it has in the module that may."""
    for door, owners in DOORS.items():
        if not source.inside(*owners):
            modules = {owner.rpartition(".")[2] for owner in owners}
            yield from (i for i in source.imports() if i in {f"{owner}.{door}" for owner in owners})
            yield from (
                name for name in source.dotted_names() if name in {f"{module}.{door}" for module in modules}
            )


def drawers_of_randomness(source: Source) -> Iterator[str]:
    """Whoever but `mechanisms.noise` draws a random number; keys and passwords are not draws on data."""
    keys = ("dpportal.platform.keys", "dpportal.platform.sealed_files")
    if source.inside(NOISE, *keys, "dpportal.operations.demonstration"):
        return
    yield from RANDOM_NAMES.intersection(name for name, _call in source.calls())
    yield from (i for i in source.imports() if i.rpartition(".")[2] in RANDOM_NAMES)
    yield from (n.attr for n in source.nodes if isinstance(n, ast.Attribute) and _is_numpy_random(n))
    yield from ("shuffled rows" for name, call in source.calls() if name == "sample" and _shuffles(call))
    yield from (
        f"{name}(uuid4())" for name, call in source.calls() if name in {"int", "hash"} and _of_uuid(call)
    )
    yield from (f"uuid4().{n.attr}" for n in source.nodes if isinstance(n, ast.Attribute) and _is_number(n))


def _is_numpy_random(node: ast.Attribute) -> bool:
    """`np.random.…` that is called or passed on, not the type of a generator that was handed in."""
    value = node.value
    is_random = isinstance(value, ast.Attribute) and value.attr == "random"
    return is_random and node.attr != "Generator"


def _shuffles(call: ast.Call) -> bool:
    return bool({"frac", "n", "random_state"}.intersection(k.arg for k in call.keywords))


def _of_uuid(call: ast.Call) -> bool:
    parts = (node for argument in call.args for node in ast.walk(argument))
    return any(isinstance(node, ast.Call) and _last(node.func) == "uuid4" for node in parts)


def _is_number(node: ast.Attribute) -> bool:
    """A random name that is taken for a number."""
    made = node.value
    return node.attr in NUMBERS_OF_A_UUID and isinstance(made, ast.Call) and _last(made.func) == "uuid4"


def makers_of_noise(source: Source) -> Iterator[str]:
    """Whoever but the mechanisms makes a source of noise; the portal's two have theirs from `secret_noise`."""
    if not source.inside("mechanisms"):
        yield from (name for name, _call in source.calls() if name == "Noise")


def loggers_of_data(source: Source) -> Iterator[str]:
    """Whoever logs, or prints, something that is neither an id nor words: it could be a count or a value."""
    yield from (
        i for i in source.imports() if i.startswith("logging.") and i.rpartition(".")[2] in LOG_LEVELS
    )
    for name, call in source.calls():
        printed = name == "print" and isinstance(call.func, ast.Name)
        if (printed and not source.inside(VERIFIER)) or ast.unparse(call.func) in PRINTERS:
            yield name
        if name in LOG_LEVELS and isinstance(call.func, ast.Attribute) and _is_log(call.func.value):
            yield from (ast.unparse(argument) for argument in call.args if not _may_be_logged(argument))
            # The one place that adds fields to a line has them from a claim.
            if not source.inside("dpportal.jobs.event_log"):
                yield from (k.arg for k in call.keywords if k.arg == "extra")


def _is_log(node: ast.expr) -> bool:
    """`log`, `self._logger`, `LOGGER`, and `logging.getLogger(…)` on the spot."""
    made = isinstance(node, ast.Call) and _last(node.func) in {"getLogger", "get_logger", "get_task_logger"}
    return made or _last(node).strip("_").lower() in {"log", "logger", "logging"}


def _may_be_logged(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Call):
        return _last(node.func) in LOGGED_CALLS
    if isinstance(node, ast.IfExp):
        return _may_be_logged(node.body) and _may_be_logged(node.orelse)
    if isinstance(node, ast.Subscript):
        return _may_be_logged(node.value)
    return _last(node) in (LOGGED_ATTRIBUTES if isinstance(node, ast.Attribute) else LOGGED_NAMES)


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
]
