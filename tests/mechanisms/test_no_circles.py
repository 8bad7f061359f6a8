"""No module of `mechanisms` comes back to itself by what it imports, wherever in the file; nor does a room."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Graph = dict[str, set[str]]


def modules() -> dict[str, Path]:
    files = (path.relative_to(ROOT) for path in (ROOT / "mechanisms").rglob("*.py"))
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def imported(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules that a file imports, in functions too; of a package's name, the package."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            found |= {name if name in known else str(node.module) for name in inside}
    return found & set(known)


@pytest.fixture(scope="module")
def graph() -> Graph:
    known = modules()
    return {name: imported(path, known) - {name} for name, path in known.items()}


def test_no_module_imports_itself_through_others(graph: Graph) -> None:
    TopologicalSorter(graph).prepare()


def test_no_room_imports_itself_through_others(graph: Graph) -> None:
    """A room is a folder or a file right below `mechanisms`."""
    rooms: Graph = {}
    for name, others in graph.items():
        rooms.setdefault(_room(name), set()).update(_room(other) for other in others)
    TopologicalSorter({room: others - {room} for room, others in rooms.items()}).prepare()


def test_a_circle_is_seen(graph: Graph) -> None:
    """One import more, from a ground that the registry stands on."""
    with pytest.raises(CycleError):
        TopologicalSorter({**graph, "mechanisms.domain": {"mechanisms.registry"}}).prepare()


def test_the_registry_is_nobodys_ground_and_the_advice_knows_no_family(graph: Graph) -> None:
    users = {_room(name) for name, others in graph.items() if "mechanisms.registry" in others}
    # Whoever verifies a release by itself stands above all methods, as the portal does.
    assert users == {"verify"}
    families = {"histogram", "matrix", "continual", "microdata", "selection", "response"}
    known = {other for name, others in graph.items() if _room(name) == "advice" for other in others}
    assert not {_room(name) for name in known} & families


def _room(name: str) -> str:
    return name.split(".")[1] if "." in name else name
