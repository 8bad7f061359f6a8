"""Which modules of a package import which, wherever in the file."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Graph = dict[str, set[str]]


def graph_of(package: str, *, for_types: bool = True) -> Graph:
    """Each module with those of the package that it imports, in functions too; of a package's name, the package.

    for_types: whether imports that only a type checker sees count.
    """
    files = (path.relative_to(ROOT) for path in (ROOT / package).rglob("*.py"))
    known = {".".join(f.with_suffix("").parts).removesuffix(".__init__"): f for f in files}
    return {name: _imported(name, path, known, for_types) - {name} for name, path in known.items()}


def between_packages(graph: Graph) -> Graph:
    """Each package with those beside it, in the same parent, that a module of it imports."""
    packages = {parent for name in graph if (parent := name.rpartition(".")[0]) in graph}
    found: Graph = {name: set() for name in packages}
    for name, others in graph.items():
        for other in others:
            own, its = _apart(name, other)
            if {own, its} <= packages:
                found[own].add(its)
    return found


def _apart(one: str, other: str) -> tuple[str, str]:
    """The first parents that two modules do not share; empty where one of them is a parent of the other."""
    names, others = one.split("."), other.split(".")
    for depth, (own, its) in enumerate(zip(names, others, strict=False), 1):
        if own != its:
            return ".".join(names[:depth]), ".".join(others[:depth])
    return "", ""


def _imported(name: str, path: Path, known: dict[str, Path], for_types: bool) -> set[str]:
    found = set()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    waiting: list[ast.AST] = [ast.parse((ROOT / path).read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not for_types:
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(package, node)
            inside = (f"{origin}.{alias.name}" for alias in node.names)
            found |= {each if each in known else origin for each in inside}
    return found & set(known)


def _origin(package: str, node: ast.ImportFrom) -> str:
    """What is imported from; `from . import x` is from the package itself."""
    if not node.level:
        return str(node.module)
    parts = package.split(".")[: len(package.split(".")) + 1 - node.level]
    return ".".join([*parts, node.module] if node.module else parts)
