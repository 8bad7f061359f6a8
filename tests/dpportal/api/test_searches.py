"""Plans that have to be searched for: no page and no lock waits for that, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.jobs.search_cache import SEARCHES
from dpportal.releases.models import Release
from mechanisms.domain import Integer
from mechanisms.linear import tree
from tests.dpportal import building
from tests.dpportal.api.calling import Program

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


@pytest.mark.slow
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


def test_a_program_that_asks_for_a_budget_waits_for_no_search(
    program: Program, dataset: Dataset, searched
) -> None:
    services.declare(dataset, "age", Integer("age", lower=0, upper=599))
    draft = building.complete_draft(dataset)
    Release.objects.filter(pk=draft.pk).update(
        columns=["age"], mechanism="hierarchical-histogram", purpose="ranges"
    )
    said = {"reason": "For this release", "release": str(draft.pk)}
    awaited = program.send("post", f"/datasets/{dataset.pk}/budgets/ask", said)
    assert (awaited.status_code, searched) == (409, []) and awaited["Retry-After"]
    for question in SEARCHES.jobs():
        SEARCHES.run(question.pk)
    assert program.said("post", f"/datasets/{dataset.pk}/budgets/ask", said, 202)["asked"]["cost"]
