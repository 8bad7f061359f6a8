"""The first accounts and the demonstration of a fresh portal: a dataset, and what `examples` makes of it."""

from __future__ import annotations

import gzip
import logging
import secrets
import time
from decimal import Decimal
from pathlib import Path
from typing import IO, cast

from django.core.files.base import File
from django.db import transaction

from dpportal.accounts.models import Role, User
from dpportal.budgets import ledger
from dpportal.budgets.ledger import BudgetOnHoldError, BudgetRefusedError
from dpportal.datasets import codebooks, demo_marker, services
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.identifying import identifying_columns
from dpportal.datasets.models import Conversion, Dataset, PublicDescription
from dpportal.jobs.clock import db_ago
from dpportal.operations import examples
from dpportal.platform.storage import DiskFullError

log = logging.getLogger(__name__)
# The reason that this process has logged last.
_announced: set[str] = set()

FOLDER = Path(__file__).resolve().parents[1] / "datasets" / "demonstration"
NAME = "Adult census 1994 (demonstration)"
DESCRIPTION = (
    "Extract of the 1994 US census, 32,561 people, 15 columns. UCI Machine Learning Repository, "
    "Becker and Kohavi (1996), CC BY 4.0."
)
# For everyone, with what is published of it.
ABOUT = {
    "text": "Adults in an extract of the 1994 census of the United States, made by Becker and Kohavi (1996).",
    "keywords": ["census", "income"],
    "place": "United States",
    "first": "1994",
    "last": "1994",
    "publisher": "UCI Machine Learning Repository",
    "licence": "CC-BY-4.0",
}
GRANT = Decimal("10")
# A start waits for it so long; then the sweep goes on, and tries again what failed after a pause.
PATIENCE_SECONDS, PAUSE_SECONDS = 60.0, 60.0
# What keeps it waiting until an administrator has seen to it.
HINDRANCES = (BudgetOnHoldError, DatasetError, DiskFullError)


def create_accounts(names: dict[Role, str]) -> dict[str, str]:
    """Make somebody for each role if there is nobody yet; returns passwords by name, to be shown once."""
    if User.objects.exists():
        return {}
    passwords = {name: secrets.token_urlsafe(16) for name in names.values()}
    for role, name in names.items():
        User.objects.create_user(name, password=passwords[name], role=role, must_change_password=True)
    return passwords


def is_there() -> bool:
    """Whether an earlier start has loaded it to the end, or somebody has a dataset of that name."""
    return not demo_marker.is_pending() and Dataset.objects.filter(name=NAME).exists()


def load(patience: float = PATIENCE_SECONDS) -> Dataset | None:
    """Upload, declare and grant the demonstration dataset, and publish its examples; None if it takes longer.

    What an earlier start began, or this one leaves unfinished, the sweep goes on with. A dataset of that name that no
    start has begun is somebody's own: nothing is done with it. patience: in seconds.
    """
    if not demo_marker.is_pending():
        known = Dataset.objects.filter(name=NAME).first()
        if known is not None:
            return known
        demo_marker.begin()
    until = time.monotonic() + patience
    try:
        while not (ready := go_on()) and time.monotonic() < until:
            time.sleep(0.2)
    except HINDRANCES as reason:
        _tell(reason)
        return None
    return ready


def go_on_if_possible() -> None:
    """Do the next step; where an administrator has to see to something first, the log says so, and it waits."""
    try:
        go_on()
        _announced.clear()
    except HINDRANCES as reason:
        _tell(reason)


def _tell(reason: Exception) -> None:
    """Log why it waits, once: it is tried every few seconds."""
    if str(reason) not in _announced:
        _announced.clear()
        _announced.add(str(reason))
        log.warning("the demonstration dataset waits: %s", reason)


def go_on() -> Dataset | None:
    """Do the next step, if one is left and nobody else is at it; the dataset, once all is ready."""
    if not demo_marker.is_pending():
        return Dataset.objects.filter(name=NAME).first()
    with demo_marker.alone_at_step() as alone:
        return _next_step() if alone and demo_marker.is_pending() else None


def _next_step() -> Dataset | None:
    curator = User.objects.filter(role=Role.CURATOR).order_by("pk").first()
    administrator = User.objects.filter(role=Role.ADMINISTRATOR).order_by("pk").first()
    if curator is None or administrator is None:
        return None
    dataset = Dataset.objects.filter(pk=demo_marker.DATASET).first()
    if dataset is None:
        _upload(curator)
    elif dataset.has_records:
        return _prepared(dataset, administrator)
    elif dataset.state == Dataset.State.REFUSED:
        _read_again(dataset, curator)
    elif dataset.state != Dataset.State.CONVERTING:  # somebody cancelled it, or has uploaded the same
        demo_marker.end()
    return None


def _prepared(dataset: Dataset, administrator: User) -> Dataset | None:
    try:
        _declare_and_grant(dataset, administrator)
        if not examples.go_on(dataset):
            return None
    except BudgetOnHoldError:
        raise
    except BudgetRefusedError as refusal:  # somebody has uploaded the same, and has a budget for it
        log.warning("the demonstration dataset has no budget: %s", refusal)
    demo_marker.end()
    return dataset


@transaction.atomic
def _declare_and_grant(dataset: Dataset, administrator: User) -> None:
    if dataset.current_domain() is None:
        columns = [c["name"] for c in dataset.columns]
        book = codebooks.read((FOLDER / "codebook.json").read_bytes(), columns)
        services.declare_all(dataset, book.attributes)
    if dataset.asks_for_unit:
        services.confirm_one_row(dataset, identifying_columns(dataset), dataset.owner)
    PublicDescription.objects.get_or_create(dataset=dataset, defaults={**ABOUT, "shown": True})
    if not dataset.budgets.exists():
        ledger.grant(dataset, GRANT, definition="pure", reason="Demonstration", by=administrator)


def _read_again(dataset: Dataset, curator: User) -> None:
    """After a pause: what the machine was too busy for may work now."""
    paused = Conversion.objects.filter(dataset=dataset, finished_at__lt=db_ago(PAUSE_SECONDS))
    if paused.exists() and dataset.can_be_read_again:
        services.read_again(dataset, curator)


def _upload(curator: User) -> None:
    with gzip.open(FOLDER / "adult.csv.gz") as packed:
        draft = Dataset(pk=demo_marker.DATASET, name=NAME, description=DESCRIPTION)
        file = File(cast(IO[bytes], packed), name="adult.csv")
        services.create_dataset(draft, file, {"missing": []}, curator)
