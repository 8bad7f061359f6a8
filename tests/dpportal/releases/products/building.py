"""Finished releases of any product on the small table, and what they gave out."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal

from django.core.files.storage import default_storage

from dpportal.datasets.models import Dataset
from dpportal.releases import execution
from dpportal.releases.models import Release
from mechanisms.domain import Integer
from tests.dpportal import building

SURE = "50"  # at ε = 50 the best of clearly separated candidates is chosen but once in e^50
# A column in which everybody has the same value, declared as it is.
ONE_CELL = Integer("age", lower=5, upper=5)


def finished(
    dataset: Dataset,
    product: str,
    columns: list[str],
    amount: str,
    mechanism: str,
    *,
    people: int = 300,
    **parameters,
) -> Release:
    release = Release.objects.create(
        dataset=dataset,
        created_by=dataset.owner,
        title="Test",
        product=product,
        columns=columns,
        mechanism=mechanism,
        parameters=parameters,
        amount=Decimal(amount),
        people=people,
    )
    building.confirm(release)
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    assert release.is_ready, release.job.failure
    return release


def files(release: Release) -> dict[str, bytes]:
    """The zip's files by name."""
    archive = release.artifacts.get(name__endswith=".zip")
    with default_storage.open(archive.stored) as file, zipfile.ZipFile(io.BytesIO(file.read())) as packed:
        return {name.rpartition("/")[2]: packed.read(name) for name in packed.namelist()}


def page_of(client, release: Release) -> str:
    response = client.get(f"/releases/{release.pk}/")
    assert response.status_code == 200
    return response.content.decode()
