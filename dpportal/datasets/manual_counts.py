"""Datasets without a table: people whom their curator counts, so that running counts can be fed with numbers alone.

Such a dataset is what a budget and its ledger hang on, as on any other: who is protected is declared of it, and every
running count of these people is paid from its accounts. There is no table that could be compared with others', so
whether the same people are in another dataset is the administrator's to ask before a grant.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from dpportal.datasets.quotas import OPENED, require_room
from dpportal.datasets.services import declare, declare_unit
from mechanisms.domain import Categorical


@dataclass(frozen=True)
class Protected:
    """Who is protected: from which comparison, and how often a person may be counted, whom `person` tells apart."""

    neighbours: str
    max_rows: int = 1
    person: str = ""


@transaction.atomic
def create(draft: Dataset, who: Protected, categories: Categorical | None, by: User) -> Dataset:
    """A dataset of people whom the curator counts, apart by the declared categories if there are any.

    Raises DatasetError where a curator has opened too many, or DomainError.
    """
    require_room(by, 0)
    draft.owner, draft.state = by, Dataset.State.COUNTED
    draft.columns = [{"name": categories.name, "kind": "text"}] if categories else []
    draft.save(force_insert=True)
    declare_unit(draft, neighbours=who.neighbours, unit_column=who.person, max_rows=who.max_rows, by=by)
    if categories:
        declare(draft, categories.name, categories, by=by)
    audit.record(by, OPENED, draft)
    return draft
