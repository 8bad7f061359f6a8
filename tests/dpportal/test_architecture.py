"""Imports run one way, each dangerous thing has one place, and no file grows beyond reading."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LONGEST_FILE = 400

# What a room may know of the others, and of what they share. A room that is added has to be added here.
ROOMS = {
    "running": set(),
    "charts": set(),
    "accounts": {"running"},
    "publishing": set(),
    "connections": {"accounts"},
    "objects": set(),
    "serving": {"accounts"},
    "pages": {"accounts", "publishing", "running"},
    "datasets": {
        "accounts",
        "connections",
        "objects",
        "publishing",
        "serving",
        "running",
        "pages",
        "charts",
    },
    "budgets": {"accounts", "publishing", "running", "pages", "charts", "datasets"},
    "releases": {
        "accounts",
        "connections",
        "publishing",
        "serving",
        "running",
        "pages",
        "charts",
        "datasets",
        "budgets",
    },
    "streams": {"accounts", "publishing", "serving", "running", "pages", "charts", "datasets", "budgets"},
    "catalogue": {"accounts", "publishing", "running", "charts", "budgets", "releases", "streams"},
}
# The portal's own modules that know no room; the others stand above all rooms.
BELOW_THE_ROOMS = {
    "storage",
    "datafolder",
    "keys",
    "sealed",
    "memory",
    "security",
    "celery",
    "environment",
    "mail",
}
# Rooms of pure functions, and what they must not touch besides.
WITHOUT_MODELS_OR_FILES = {"charts": ("django.db", "django.core.files", "dpportal.storage", "pathlib", "io")}
# Inside a room a module may import those of its own layer and of layers before it.
LAYERS = [
    {"amounts"},
    {"models"},
    {"ledger", "rawdata", "audit"},
    {"products"},
    {"results", "bundle", "drafts"},
    {"execution", "conversion"},
    {"tasks"},
    {"services"},
    {"connecting"},
    {"forms"},
    {"views", "domain_views", "wizard", "opening", "public", "api"},
    {"urls"},
]
READERS_OF_TABLES = {
    "read_table",
    "read_parquet",
    "ParquetFile",
    "ParquetDataset",
    "iter_batches",
    "read_csv",
    "read_excel",
    "load_workbook",
    "from_parquet",
}
WRITES = {
    "create",
    "update",
    "save",
    "delete",
    "get_or_create",
    "update_or_create",
    "bulk_create",
    "bulk_update",
}
RANDOM_MODULES = {"random", "secrets", "numpy.random", "opendp"}
RANDOM_NAMES = {
    "urandom",
    "default_rng",
    "getrandom",
    "uuid1",
    "RandomState",
    "PCG64",
    "Generator",
    "SystemRandom",
}


@dataclass(frozen=True)
class Source:
    """A module of the project: its dotted name and its syntax tree."""

    name: str
    tree: ast.Module

    @classmethod
    def of(cls, name: str, text: str) -> Source:
        return cls(name, ast.parse(text))

    def imports(self) -> Iterator[str]:
        """The dotted name of everything that is imported, wherever in the file."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from (f"{node.module}.{alias.name}" for alias in node.names)

    def calls(self) -> Iterator[tuple[str, ast.Call]]:
        """Every call with the last part of what is called: `pq.read_table(…)` as "read_table"."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                if isinstance(node.func, ast.Attribute):
                    yield node.func.attr, node
                elif isinstance(node.func, ast.Name):
                    yield node.func.id, node

    def inside(self, *packages: str) -> bool:
        return any(self.name == p or self.name.startswith(f"{p}.") for p in packages)

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")


@cache
def project() -> list[Source]:
    paths = [p for package in ("dpportal", "mechanisms") for p in (ROOT / package).rglob("*.py")]
    return [Source.of(_dotted(path), path.read_text()) for path in paths if "migrations" not in path.parts]


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def backward_rooms(source: Source) -> Iterator[str]:
    """Imports from a room that this one must not know, or of any room by a module below them all."""
    if source.parts[0] != "dpportal" or len(source.parts) < 2:
        return
    home = source.parts[1]
    allowed = {home, *ROOMS[home]} if home in ROOMS else set() if home in BELOW_THE_ROOMS else set(ROOMS)
    for imported in source.imports():
        parts = imported.split(".")
        if parts[0] == "dpportal" and len(parts) > 1 and parts[1] in ROOMS and parts[1] not in allowed:
            yield imported


def models_or_files_where_none_belong(source: Source) -> Iterator[str]:
    """A model or a file in a room of pure functions."""
    room = source.parts[1] if source.inside("dpportal") and len(source.parts) > 1 else ""
    foreign = WITHOUT_MODELS_OR_FILES.get(room, ())
    yield from (
        i for i in source.imports() if i.startswith(foreign) or (foreign and "models" in i.split("."))
    )


def backward_layers(source: Source) -> Iterator[str]:
    """Imports, inside one room, of a later layer from an earlier one."""
    if len(source.parts) < 3 or source.parts[1] not in ROOMS:
        return
    here = _layer(source.parts[2])
    for imported in source.imports():
        parts = imported.split(".")
        if parts[:2] == source.parts[:2] and len(parts) > 2:
            there = _layer(parts[2])
            if here is not None and there is not None and there > here:
                yield imported


def _layer(module: str) -> int | None:
    return next((i for i, layer in enumerate(LAYERS) if module in layer), None)


def portal_in_mechanisms(source: Source) -> Iterator[str]:
    """What the mechanisms must not know: the portal, its framework, files and the network."""
    if source.inside("mechanisms"):
        foreign = {
            "dpportal",
            "django",
            "celery",
            "kombu",
            "duckdb",
            "pyarrow",
            "socket",
            "urllib",
            "requests",
        }
        yield from (i for i in source.imports() if i.split(".")[0] in foreign)


def readers_of_records(source: Source) -> Iterator[str]:
    """Whoever but rawdata reads a table, opens its file, or uses the engine that does."""
    if source.inside("dpportal.datasets.rawdata"):
        return
    yield from (i for i in source.imports() if i.startswith(("duckdb", "pyarrow.dataset", "sqlglot")))
    if not source.inside("dpportal.connections"):
        engines = tuple(
            f"dpportal.connections.{name}" for name in ("engine", "postgres", "spark", "clickhouse")
        )
        yield from (
            i
            for i in source.imports()
            if i.startswith(("psycopg", "pyspark", "clickhouse_connect", *engines))
        )
    yield from (name for name, _call in source.calls() if name in READERS_OF_TABLES)
    for name, call in source.calls():
        opened = [n.attr for a in call.args for n in ast.walk(a) if isinstance(n, ast.Attribute)]
        if name in {"local_path", "open"} and {"table", "upload", "true_counts"} & set(opened):
            yield f"{name}({', '.join(opened)})"


def writers_of_the_ledger(source: Source) -> Iterator[str]:
    """Whoever but the ledger makes, changes or deletes a budget or a line."""
    if source.name == "dpportal.budgets.ledger":
        return
    for name, call in source.calls():
        if name in {"Budget", "LedgerEntry", "_settle"}:
            yield name
        elif name in WRITES and isinstance(call.func, ast.Attribute):
            changed = {n.id for n in ast.walk(call.func.value) if isinstance(n, ast.Name)}
            related = {n.attr for n in ast.walk(call.func.value) if isinstance(n, ast.Attribute)}
            if {"Budget", "LedgerEntry"} & changed or {"budget", "ledger", "charge"} & related:
                yield name


def drawers_of_randomness(source: Source) -> Iterator[str]:
    """Whoever but `mechanisms.noise` draws a random number; keys and passwords are not draws on data."""
    if source.inside("mechanisms.noise", "dpportal.keys", "dpportal.demonstration"):
        return
    for imported in source.imports():
        if any(imported == m or imported.startswith(f"{m}.") for m in RANDOM_MODULES):
            yield imported
    yield from (name for name, _call in source.calls() if name in RANDOM_NAMES)
    yield from (n.attr for n in ast.walk(source.tree) if isinstance(n, ast.Attribute) and _is_numpy_random(n))


def _is_numpy_random(node: ast.Attribute) -> bool:
    """`np.random.…` that is called or passed on, not the type of a generator that was handed in."""
    value = node.value
    is_random = isinstance(value, ast.Attribute) and value.attr == "random"
    return is_random and node.attr != "Generator"


def makers_of_noise(source: Source) -> Iterator[str]:
    """Whoever but the mechanisms and the execution of releases makes a source of noise."""
    if not source.inside("mechanisms", "dpportal.releases.execution", "dpportal.streams.execution"):
        yield from (name for name, _call in source.calls() if name == "Noise")


Rule = Callable[[Source], Iterable[str]]

# Each rule with an innocent-looking module that breaks it.
RULES: list[tuple[Rule, str, str]] = [
    (backward_rooms, "dpportal.accounts.permissions", "from dpportal.datasets.models import Dataset"),
    (backward_rooms, "dpportal.datasets.services", "def f():\n    from dpportal.budgets import ledger"),
    (backward_rooms, "dpportal.budgets.views", "import dpportal.releases.models"),
    (backward_rooms, "dpportal.running.jobs", "from dpportal.accounts.models import User"),
    (backward_layers, "dpportal.releases.models", "from dpportal.releases.services import publish"),
    (backward_layers, "dpportal.releases.execution", "from dpportal.releases import tasks"),
    (backward_layers, "dpportal.datasets.rawdata.records", "from dpportal.datasets import services"),
    (backward_layers, "dpportal.budgets.forms", "from dpportal.budgets.views import ledger_page"),
    (portal_in_mechanisms, "mechanisms.histogram.noisy", "from django.conf import settings"),
    (portal_in_mechanisms, "mechanisms.registry", "import dpportal.releases"),
    (readers_of_records, "dpportal.releases.views", "import pyarrow.parquet as pq\npq.read_table(path)"),
    (readers_of_records, "dpportal.releases.comparison", "from duckdb import connect"),
    (readers_of_records, "dpportal.releases.services", "from dpportal.connections.postgres import reading"),
    (readers_of_records, "dpportal.datasets.services", "from dpportal.connections import engine"),
    (readers_of_records, "dpportal.datasets.admin", "default_storage.open(dataset.table)"),
    (readers_of_records, "dpportal.home", "with storage.local_path(release.true_counts) as path: pass"),
    (writers_of_the_ledger, "dpportal.releases.services", "Budget.objects.filter(pk=1).update(total=9)"),
    (writers_of_the_ledger, "dpportal.budgets.admin", "LedgerEntry(amount=1).save()"),
    (writers_of_the_ledger, "dpportal.releases.execution", "release.dataset.budget.save()"),
    (
        writers_of_the_ledger,
        "dpportal.budgets.views",
        "LedgerEntry.objects.all()._settle(entry, 'void', now)",
    ),
    (drawers_of_randomness, "mechanisms.synthesis.table", "import numpy as np\nnp.random.default_rng(1)"),
    (drawers_of_randomness, "mechanisms.error", "from random import gauss"),
    (drawers_of_randomness, "dpportal.releases.execution", "import os\nos.urandom(8)"),
    (makers_of_noise, "dpportal.releases.comparison", "x = Noise()"),
    (makers_of_noise, "dpportal.datasets.views", "noise.Noise().laplace(1)"),
]


def label(value: Rule | str) -> str:
    return value.rpartition("\n")[2] if isinstance(value, str) else getattr(value, "__name__", "rule")


@pytest.mark.parametrize("rule", dict.fromkeys(rule for rule, _name, _text in RULES), ids=label)
def test_the_project_keeps_the_rule(rule):
    broken = {source.name: found for source in project() if (found := list(rule(source)))}
    assert broken == {}


@pytest.mark.parametrize("rule, name, text", RULES, ids=label)
def test_the_rule_catches_what_breaks_it(rule, name, text):
    assert list(rule(Source.of(name, text)))


def test_the_whole_project_is_looked_at():
    names = {source.name for source in project()}
    assert {"dpportal.releases.execution", "mechanisms.noise.sampler", "dpportal.datasets.rawdata"} <= names


def test_every_module_of_the_portal_has_its_place():
    """A new package beside the rooms is either a room or knows none."""
    packages = {path.parent.name for path in (ROOT / "dpportal").glob("*/__init__.py")}
    assert packages == {*ROOMS, "management"}


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms", "tests"])
def test_no_file_is_longer_than_a_reader_bears(folder):
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in (ROOT / folder).rglob("*.py")
        if "migrations" not in path.parts
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}
