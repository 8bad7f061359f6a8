"""No module of `mechanisms` comes back to itself by what it imports, wherever in the file; nor does a room."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.import_graph import Graph, graph_of


@pytest.fixture(scope="module")
def graph() -> Graph:
    return graph_of("mechanisms")


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
