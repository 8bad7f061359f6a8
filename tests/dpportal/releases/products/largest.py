"""Releases of very many cells and answers, with random numbers in place of a measurement: no job has to be run."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable

import numpy as np
from django.utils import timezone

from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.platform import storage
from dpportal.platform.json_types import Json
from dpportal.releases.models import Artifact, Release
from dpportal.releases.products import confirmed_plan
from mechanisms import registry
from mechanisms.domain import Integer
from tests.dpportal import building

NUMBERS = ("answer", "standard_error", "interval_lower", "interval_upper")


def confirmed(dataset: Dataset, cells: int, **fields: object) -> Release:
    """Of one column of so many cells, and of further ones of the small table where `columns` names them."""
    services.declare(dataset, "age", Integer("age", lower=0, upper=cells - 1))
    draft = building.complete_draft(dataset)
    Release.objects.filter(pk=draft.pk).update(**{"columns": ["age"], **fields})
    draft.refresh_from_db()
    building.confirm(draft)
    return Release.objects.get(pk=draft.pk)


def published(release: Release, **fields: object) -> Release:
    now = timezone.now()
    Release.objects.filter(pk=release.pk).update(
        state=Release.State.READY, measured_at=now, published_at=now, **fields
    )
    return Release.objects.get(pk=release.pk)


def histogram(dataset: Dataset, mechanism: str, cells: int, **fields: object) -> Release:
    parameters = {"within_bins": "smooth", "purpose": "totals"}
    release = confirmed(dataset, cells, mechanism=mechanism, parameters=parameters, **fields)
    plan, method = confirmed_plan(release), registry.mechanism(mechanism)
    size = plan.domain.size if method.is_plain else method.strategy(plan).size
    with storage.scratch_folder() as folder:
        np.save(folder / "numbers.npy", np.random.default_rng(1).integers(-5, 9, size))
        stored = storage.keep(folder / "numbers.npy", f"releases/{release.pk}/measurement/numbers.npy")
    return published(release, measurement=stored)


def with_page(release: Release, shown: Json) -> Release:
    """With what a job would have stored for the public page."""
    with storage.scratch_folder() as folder:
        (folder / "public.json").write_text(json.dumps(shown))
        release.result = storage.keep_under_random_name(folder / "public.json", f"releases/{release.pk}/page")
    release.save(update_fields=["result"])
    return release


def answers(dataset: Dataset, cells: int, workload: str, labels: Iterable[str]) -> Release:
    """labels: one for each query; the answers are random."""
    fields = {"product": "queries", "mechanism": "identity-strategy", "parameters": {"workload": workload}}
    release, random = confirmed(dataset, cells, **fields), np.random.default_rng(1)
    with storage.scratch_folder() as folder:
        with (folder / "answers.csv").open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(("number", "query", *NUMBERS))
            lines.writerows((i, label, *random.integers(0, 99, 4)) for i, label in enumerate(labels, start=1))
        stored = storage.keep(folder / "answers.csv", f"releases/{release.pk}/files/answers.csv")
    Artifact.objects.create(release=release, name="answers.csv", stored=stored, size=1, sha256="a" * 64)
    return published(release)
