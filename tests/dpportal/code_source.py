"""A module as the rules of `code_rules.py` see it: its calls, names and texts, and what each name stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from tests.dpportal.code_lists import RECORDS, TABLES

ROOT = Path(__file__).resolve().parents[2]


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
        """Every call with the last part of what is called, by its own name: `pq.read_table(…)` as "read_table"."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield self.full_name(node.func).rpartition(".")[2], node

    def names(self) -> Iterator[str]:
        """The last part of everything that is spoken of or imported: a function that is passed on, too."""
        yield from (last(node) for node in self.nodes if isinstance(node, ast.Attribute | ast.Name))
        yield from (imported.rpartition(".")[2] for imported in self.imports())

    def texts(self) -> Iterator[str]:
        """Every constant text that is used: no docstring."""
        said = {id(n.value) for n in self.nodes if isinstance(n, ast.Expr)}
        constants = (n for n in self.nodes if isinstance(n, ast.Constant) and id(n) not in said)
        yield from (n.value for n in constants if isinstance(n.value, str))

    def dotted_names(self) -> Iterator[str]:
        """The last two parts of every attribute: `self.sys.modules` as "sys.modules"."""
        yield from (f"{last(n.value)}.{n.attr}" for n in self.nodes if isinstance(n, ast.Attribute))

    @cached_property
    def imported_names(self) -> dict[str, str]:
        """What each imported or so assigned name stands for: of `from dpportal.datasets import records as r`, r."""
        known = dict(USUAL)
        for node in self.nodes:
            if isinstance(node, ast.Import):
                known |= {alias.asname: alias.name for alias in node.names if alias.asname}
            elif isinstance(node, ast.ImportFrom):
                known |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
        for name, value in (pair for node in self.nodes for pair in _given(node)):
            meant = _resolved(value, known)
            if "." in meant:
                known.setdefault(name, meant)
        return known

    @cached_property
    def full_names(self) -> set[str]:
        """Everything that is spoken of, by the name of the module that has it, whatever it is called here."""
        spoken = (n for n in self.nodes if isinstance(n, ast.Attribute | ast.Name | ast.Call | ast.Subscript))
        return {_resolved(node, self.imported_names) for node in spoken} | set(self.imports())

    def assigned_from(self, makers: set[str]) -> set[str]:
        """Every name that is given what one of these functions returns, or something that is made of it."""
        given = (pair for node in self.nodes for pair in _given(node))
        return {name for name, value in given if self.calls_within(value, makers)}

    def calls_within(self, node: ast.AST, makers: set[str]) -> bool:
        """Whether one of these functions is called anywhere in an expression."""
        calls = (n for n in ast.walk(node) if isinstance(n, ast.Call))
        return any(self.full_name(call.func).rpartition(".")[2] in makers for call in calls)

    def full_name(self, node: ast.AST) -> str:
        return _resolved(node, self.imported_names)

    def inside(self, *packages: str) -> bool:
        return any(self.name == p or self.name.startswith(f"{p}.") for p in packages)


def _given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement, an expression or a function's defaults give a value, each with that value."""
    if isinstance(node, ast.Assign):
        yield from (pair for target in node.targets for pair in _paired(target, node.value))
    elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        yield from _paired(node.target, node.value)
    elif isinstance(node, ast.arguments):
        positional = [*node.posonlyargs, *node.args]
        defaulted = zip(reversed(positional), reversed(node.defaults), strict=False)
        named = zip(node.kwonlyargs, node.kw_defaults, strict=True)
        yield from ((a.arg, default) for a, default in (*defaulted, *named) if default is not None)


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for each, own in zip(target.elts, value.elts, strict=False):
            yield from _paired(each, own)
    elif last(target):
        yield last(target), value


def _resolved(node: ast.AST, known: dict[str, str]) -> str:
    """A dotted name with its first part as `known` has it; else empty.

    Of `getattr(r, "count")`, `vars(r)["count"]`, `r.__dict__["count"]` and `(g := r).count`, too.
    """
    if isinstance(node, ast.Name):
        return known.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_resolved(node.value, known)}.{node.attr}"
    if isinstance(node, ast.NamedExpr):
        return _resolved(node.value, known)
    holder, name = _looked_up(node)
    return f"{_resolved(holder, known)}.{name}" if holder is not None else ""


def _looked_up(node: ast.AST) -> tuple[ast.expr | None, str]:
    """What an attribute is taken from by a constant text, and that text."""
    if isinstance(node, ast.Call) and last(node.func) == "getattr" and len(node.args) > 1:
        holder, name = node.args[:2]
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call) and node.value.args:
        holder, name = node.value.args[0], node.slice
        if last(node.value.func) != "vars":
            return None, ""
    elif isinstance(node, ast.Subscript) and last(node.value) == "__dict__":
        assert isinstance(node.value, ast.Attribute)
        holder, name = node.value.value, node.slice
    else:
        return None, ""
    return (holder, str(name.value)) if isinstance(name, ast.Constant) else (None, "")


def last(node: ast.AST) -> str:
    """The last part of a name: of `a.b`, "b"; else empty."""
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
