"""What readers are told of everything that was released of a dataset: its cost so far, and the other releases."""

from __future__ import annotations

from itertools import chain

from django.db.models import Q

from dpportal.budgets.charged_publication import ChargedPublication
from dpportal.budgets.counted_rows import differences
from dpportal.budgets.promises import AccountPromise, spent_on_linked_datasets
from dpportal.datasets.models import Dataset
from dpportal.platform.json_types import Json
from dpportal.publications.draft import PUBLIC

# Other releases that a page names; all are on the page of the dataset.
MOST_NAMED = 4


def spent_so_far(dataset: Dataset) -> list[AccountPromise]:
    """What was spent in all, a line for each promise: costs for different people are never added.

    What other datasets of nearly the same people have spent comes after, as `AccountPromise.is_bound` says.
    """
    own = [AccountPromise.spent_of(budget) for budget in dataset.budgets.all() if budget.spent]
    return [*own, *spent_on_linked_datasets(dataset)]


def cost_context(publication: ChargedPublication) -> Json:
    """For a public page: costs (see `spent_so_far`), others (the newest releases and running counts), other_count.

    differences: why the same number may differ between it and the others by more than noise; empty where it may not.
    """
    public = [
        kind._default_manager.filter(PUBLIC & Q(dataset=publication.dataset))
        .exclude(pk=publication.pk)
        .defer(*kind.UNLISTED)
        for kind in ChargedPublication.__subclasses__()
    ]
    newest = chain.from_iterable(rows.order_by("-published_at")[:MOST_NAMED] for rows in public)
    others = sorted(newest, key=lambda row: str(row.published_at), reverse=True)[:MOST_NAMED]
    titled = [(str(other), other.counted_rows) for other in others]
    return {
        "costs": spent_so_far(publication.dataset),
        "others": others,
        "differences": differences(publication.counted_rows, titled) if others else [],
        "other_count": sum(rows.count() for rows in public),
    }
