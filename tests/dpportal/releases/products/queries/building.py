"""Releases of answers to queries, on the small table: 100 rows of each colour, ages 0 to 99 in ten cells of 30."""

from __future__ import annotations

import io
from decimal import Decimal

import numpy as np
import pandas as pd

from dpportal.datasets.models import Dataset
from dpportal.releases import execution, services
from dpportal.releases.models import Release
from dpportal.releases.products.queries import strategies
from tests.dpportal import building
from tests.dpportal.releases.products.building import files


def draft_of(
    dataset: Dataset,
    text: str,
    columns: list[str],
    amount: str = "1",
    mechanism: str = "automatic",
    **parameters: str,
) -> Release:
    """A draft with nothing left to choose."""
    return Release.objects.create(
        dataset=dataset,
        created_by=dataset.owner,
        title="Test",
        product="queries",
        columns=columns,
        mechanism=mechanism,
        parameters={"workload": text, **parameters},
        amount=Decimal(amount),
    )


def finished(draft: Release) -> Release:
    """The draft's strategies found, the release made."""
    for search in services.ask_strategies(draft):
        strategies.STRATEGIES.run(search.key)
    building.confirm(draft)
    execution.RELEASES.run(draft.pk)
    draft.refresh_from_db()
    assert draft.is_ready, draft.job.failure
    return draft


def answers(release: Release) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(files(release)["answers.csv"]))


def arrays(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as loaded:
        return {name: loaded[name] for name in loaded.files}
