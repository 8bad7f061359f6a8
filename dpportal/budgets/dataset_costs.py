"""What readers are told of everything that was released of a dataset: its cost so far, and the other releases."""

from __future__ import annotations

from itertools import chain

from dpportal.budgets.models import ChargedPublication
from dpportal.budgets.promises import AccountPromise
from dpportal.datasets.models import Dataset
from dpportal.platform.json_types import Json
from dpportal.publications.draft import PUBLIC

# Other releases that a page names; all are on the page of the dataset.
MOST_NAMED = 4


def spent_so_far(dataset: Dataset) -> list[AccountPromise]:
    """What was spent in all, a line for each promise: costs for different people are never added."""
    return [AccountPromise.of(budget, budget.spent) for budget in dataset.budgets.all() if budget.spent]


def public_of(dataset: Dataset) -> list[ChargedPublication]:
    """Its public releases and running counts, newest first."""
    kinds = ChargedPublication.__subclasses__()
    rows = chain.from_iterable(kind._default_manager.filter(PUBLIC, dataset=dataset) for kind in kinds)
    return sorted(rows, key=lambda row: str(row.published_at), reverse=True)


def told_beside(publication: ChargedPublication) -> Json:
    """For a public page: costs (see `spent_so_far`), others (the newest), and other_count."""
    others = [row for row in public_of(publication.dataset) if row.pk != publication.pk]
    return {
        "costs": spent_so_far(publication.dataset),
        "others": others[:MOST_NAMED],
        "other_count": len(others),
    }
