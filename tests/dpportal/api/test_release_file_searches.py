"""A release from a file whose plan has to be searched for: nobody waits for that search with a lock."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from dpportal.datasets.models import Dataset
from dpportal.releases.models import Release
from mechanisms.linear import tree
from tests.dpportal import building

PLAN = """
[table]
{table}
[declaration.columns.age]
kind = "integer"
lower = 0
upper = 599
[release]
product = "histogram"
[release.choices]
columns = ["age"]
people = 100
[release.method]
mechanism = "hierarchical-histogram"
amount = "0.5"
purpose = "ranges"
"""


@pytest.fixture
def searched(monkeypatch) -> Iterator[list[bool]]:
    """For each search whether a transaction of the portal's own was open meanwhile."""
    search, found = tree.best_tree._search, []

    def watched(*arguments: object) -> object:
        found.append(any(not block._from_testcase for block in connection.atomic_blocks))
        return search(*arguments)

    monkeypatch.setattr(tree.best_tree, "_search", watched)
    yield found


def test_a_search_of_a_plan_holds_nobody_up(curator, tmp_path: Path, searched) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.format(table='file = "people.csv"'))
    said = StringIO()
    call_command("release", str(path), "--plan-only", "--as", "curator", stdout=said)
    assert "ε = 0.50" in said.getvalue()
    assert searched and not any(searched) and not Dataset.objects.exists()


@pytest.mark.slow
def test_a_release_is_made_of_what_was_searched_for_once(dataset: Dataset, tmp_path: Path, searched) -> None:
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.format(table=f'dataset = "{dataset.pk}"'))
    call_command("release", str(path), "--output", str(tmp_path), stdout=StringIO())
    assert Release.objects.get().is_ready and building.left(dataset) == 0.5
    assert searched and not any(searched)
