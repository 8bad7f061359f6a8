"""The table elsewhere that a dataset was made from: whether it may be asked, how much at once, and when it was."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from django.utils.translation import gettext as _

from dpportal.datasets.models import Dataset
from dpportal.tables.connections.models import SharedTable
from dpportal.tables.faults import SourceFault
from mechanisms.domain import Domain

if TYPE_CHECKING:
    from dpportal.tables.connections.counting import CountRequest, PushdownCounts

MOST_CELLS = 10**8  # of 8 bytes each


def check_cells(domain: Domain, tables: Sequence[Sequence[str]]) -> None:
    """Raises SourceFault for tables of too many cells in all."""
    if sum(domain.project(columns).size for columns in tables) > MOST_CELLS:
        text = _("These are more cells than are counted elsewhere at once. Release fewer.")
        raise SourceFault("cells", text)


def noted(dataset: Dataset, result: PushdownCounts) -> np.ndarray:
    """What an engine counted; notes where and when it was read."""
    assert dataset.source is not None
    read = {"engine": result.engine, "table": dataset.source.title, "read_at": result.read_at}
    dataset.last_read = json.dumps(read)
    return result.counts


def count_request(dataset: Dataset) -> CountRequest:
    """What a dataset was made from, if its owner may still use it. Raises SourceFault."""
    from dpportal.tables.connections import counting

    assert dataset.source is not None
    if not SharedTable.offered_to(dataset.owner).filter(pk=dataset.source.pk).exists():
        raise SourceFault("offered", _("This table is not offered to the dataset's owner any more."))
    types = {column["name"]: column["type"] for column in dataset.columns}
    facts = dataset.facts
    return counting.CountRequest(dataset.source, facts["identity"], types, facts["definition"])
