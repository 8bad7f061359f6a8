"""The first accounts and the demonstration dataset of a fresh portal."""

from __future__ import annotations

import gzip
import secrets
import time
from decimal import Decimal
from pathlib import Path
from typing import IO, cast

from django.core.files.base import File

from dpportal.accounts.models import Role, User
from dpportal.budgets import ledger
from dpportal.datasets import codebooks, services
from dpportal.datasets.models import Dataset

FOLDER = Path(__file__).resolve().parent / "datasets" / "demonstration"
NAME = "Adult census 1994 (demonstration)"
DESCRIPTION = (
    "Extract of the 1994 US census, 32,561 people, 15 columns. UCI Machine Learning Repository, "
    "Becker and Kohavi (1996), CC BY 4.0."
)
GRANT = Decimal("10")
PATIENCE_SECONDS = 120.0


def create_accounts(names: dict[Role, str]) -> dict[str, str]:
    """Make somebody for each role if there is nobody yet; returns passwords by name, to be shown once."""
    if User.objects.exists():
        return {}
    passwords = {name: secrets.token_urlsafe(12) for name in names.values()}
    for role, name in names.items():
        User.objects.create_user(name, password=passwords[name], role=role, must_change_password=True)
    return passwords


def load() -> Dataset | None:
    """Upload, declare and grant the demonstration dataset; continues where an earlier start was interrupted."""
    curator = User.objects.filter(role=Role.CURATOR).order_by("pk").first()
    administrator = User.objects.filter(role=Role.ADMINISTRATOR).order_by("pk").first()
    if curator is None or administrator is None:
        return None
    dataset = Dataset.objects.filter(name=NAME).first() or _upload(curator)
    if not _stored(dataset):
        return None
    if dataset.current_domain() is None:
        columns = [c["name"] for c in dataset.columns]
        book = codebooks.read((FOLDER / "codebook.json").read_bytes(), columns)
        services.declare_all(dataset, book.attributes)
    if not dataset.budgets.exists():
        ledger.grant(dataset, GRANT, definition="pure", reason="Demonstration", by=administrator)
    return dataset


def _upload(curator: User) -> Dataset:
    with gzip.open(FOLDER / "adult.csv.gz") as packed:
        draft = Dataset(name=NAME, description=DESCRIPTION)
        return services.create_dataset(
            draft, File(cast(IO[bytes], packed), name="adult.csv"), {"missing": []}, curator
        )


def _stored(dataset: Dataset) -> bool:
    """Wait until the worker has read the upload."""
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        dataset.refresh_from_db()
        if dataset.state != Dataset.State.CONVERTING:
            return dataset.has_records
        time.sleep(0.2)
    return False
