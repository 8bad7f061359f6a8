"""No module of the portal comes back to itself by what it imports when it runs, in functions too; and no package."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.import_graph import Graph, between_packages, graph_of

# Django wants a session's model to name its store, which writes it.
KNOWN = {"dpportal.accounts.models": {"dpportal.accounts.session_store"}}


@pytest.fixture(scope="module")
def graph() -> Graph:
    whole = graph_of("dpportal", for_types=False)
    assert all(others <= whole[name] for name, others in KNOWN.items())
    return {name: others - KNOWN.get(name, set()) for name, others in whole.items()}


def test_no_module_imports_itself_through_others(graph: Graph) -> None:
    assert len(graph) > 800
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("package", ["dpportal", "mechanisms"])
def test_no_package_imports_itself_through_those_beside_it(package: str) -> None:
    """Rooms in rooms are layers, too: whoever reads one needs none of those above it, not even for types."""
    packages = between_packages(graph_of(package))
    assert len(packages) > 20
    TopologicalSorter(packages).prepare()


@pytest.mark.parametrize(
    "low, high",
    [
        ("dpportal.datasets.protection_change", "dpportal.datasets.services"),
        ("dpportal.accounts.models", "dpportal.accounts.people"),
        ("dpportal.api.dpclient.connection", "dpportal.api.dpclient.portal"),
    ],
)
def test_a_circle_is_seen(graph: Graph, low: str, high: str) -> None:
    with pytest.raises(CycleError):
        TopologicalSorter({**graph, low: graph[low] | {high}}).prepare()


@pytest.mark.parametrize(
    "low, high",
    [
        ("dpportal.tables.engines.protocol", "dpportal.tables.connections.models"),
        ("dpportal.accounts.factors.pages", "dpportal.accounts.provider.linking"),
        ("dpportal.tables.meaning.dates", "dpportal.tables.pushdown.count_query"),
    ],
)
def test_a_circle_of_packages_is_seen(graph: Graph, low: str, high: str) -> None:
    with pytest.raises(CycleError):
        TopologicalSorter(between_packages({**graph, low: graph[low] | {high}})).prepare()
