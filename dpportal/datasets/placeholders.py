"""Datasets that an older copy of the database lacks, though something was spent of them."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from dpportal.accounts.models import User
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs.claims import JobState


@transaction.atomic
def keep_place(dataset_id: UUID, name: str, owner: User) -> Dataset:
    """Put one back as a dataset whose records are deleted, so that its ledger can say what was spent."""
    erased = Dataset.State.ERASED
    place = Dataset.objects.create(pk=dataset_id, name=name, owner=owner, file_name=name, state=erased)
    Conversion.objects.create(dataset=place, state=JobState.CANCELLED, finished_at=Now())
    return place
