"""A small world to test in: people, a stored table of 300 rows, a budget, a draft that is ready to confirm."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from dpportal.accounts import delivery
from dpportal.accounts.models import AuditEntry, Role, User
from dpportal.budgets import ledger
from dpportal.budgets.models import Budget
from dpportal.datasets import records, services as dataset_services
from dpportal.datasets.import_job import CONVERSIONS, fingerprint
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs.claims import JobKey, JobState
from dpportal.jobs.clock import db_ago
from dpportal.jobs.models import Heartbeat
from dpportal.jobs.runner import AnyKind
from dpportal.platform import storage, triggers
from dpportal.releases import bundle, drafts, results, services
from dpportal.releases.display_texts import DisplayTexts
from dpportal.releases.models import Artifact, Release
from dpportal.value_choices import services as value_choices
from dpportal.value_choices.models import ValueChoice
from mechanisms.domain import Categorical, Integer

ROWS = 300
# What the page of a new upload sends when nothing is changed.
FORM = {"header": "names", "strip": "ignored", "quote": '"'}
PASSWORD = "correct horse battery staple"


def person(name: str, role: Role) -> User:
    return User.objects.create_user(name, password=PASSWORD, role=role)


def small_table() -> pa.Table:
    """100 rows each of red, green and blue; ages 0 to 99, three times each."""
    colours = ["red", "green", "blue"]
    return pa.table(
        {
            "colour": [colours[i % 3] for i in range(ROWS)],
            "age": [str(i // 3) for i in range(ROWS)],
        }
    )


def stored_dataset(owner: User, name: str = "Small table") -> Dataset:
    """The small table, as if it had been uploaded and converted, with both columns declared: 3 × 10 cells."""
    dataset = Dataset(owner=owner, name=name, file_name="small.csv", state=Dataset.State.STORED, rows=ROWS)
    dataset.unit_declared = True
    with storage.scratch_folder() as scratch:
        path = scratch / "table.parquet"
        pq.write_table(small_table(), path)
        dataset.table = storage.keep_under_random_name(path, records.folder(dataset.pk))
    dataset.columns = [
        {"name": "colour", "kind": "text", "remark": ""},
        {"name": "age", "kind": "integer", "remark": ""},
    ]
    dataset.fingerprint = fingerprint(str(dataset.pk))
    dataset.save()
    Conversion.objects.create(dataset=dataset, state=JobState.DONE)
    colour = Categorical("colour", values=("red", "green", "blue"))
    age = Integer("age", lower=0, upper=99, width=10)
    dataset_services.declare_all(dataset, [colour, age])
    return dataset


def sent(desk: Client, content: bytes, **fields: str) -> Dataset:
    """A file given to the page of a new upload; no worker has it yet."""
    file = SimpleUploadedFile("small.csv", content)
    answer = desk.post("/datasets/new/", {**FORM, "file": file, "arrived": "whole", **fields})
    assert answer.status_code == 302, answer.content.decode()
    return Dataset.objects.latest("created_at")


def uploaded(desk: Client, content: bytes, **fields: str) -> Dataset:
    """A file given to the page of a new upload, and converted; each row is said to be one person."""
    dataset = sent(desk, content, **fields)
    CONVERSIONS.run(dataset.pk)
    Dataset.objects.filter(pk=dataset.pk).update(unit_declared=True)
    dataset.refresh_from_db()
    return dataset


def age_record(**back: int) -> None:
    """Let all that the audit record has be older; back: as in timedelta. The database refuses that to everybody."""
    guard = triggers.guards["accounts"]
    guard.remove("default")
    AuditEntry.objects.update(at=F("at") - timedelta(**back))
    guard.install("default")


def run_when_due(kind: AnyKind, pk: JobKey) -> bool:
    """What a worker does with a job when the time has come that it was put off to, an hour after it began."""
    kind.jobs().filter(pk=pk, state=JobState.QUEUED).update(hinted_at=db_ago(1))
    kind.jobs().filter(pk=pk, started_at__isnull=False).update(started_at=db_ago(3600))
    return kind.run(pk)


def deliver_mail() -> None:
    """What a worker does with the mail that waits."""
    delivery.deliver_due()


def a_worker_lives() -> None:
    """As if one had just been heard of."""
    Heartbeat.objects.update_or_create(
        name="worker@here:1", defaults={"kind": "worker", "own_clock": timezone.now(), "seen_at": Now()}
    )


def granted(
    dataset: Dataset, by: User, total: str = "1", definition: str = "pure", *, knowing: bool = False
) -> Dataset:
    """With a budget; knowing: of every dataset that holds nearly the same."""
    known = list(Dataset.objects.values_list("pk", flat=True)) if knowing else []
    terms = ledger.GrantTerms(knowing=known)
    ledger.grant(dataset, Decimal(total), definition=definition, reason="For the test", by=by, terms=terms)
    return dataset


def left(dataset: Dataset) -> Decimal:
    """What can still be reserved for the protection declared now; zero without a budget for it."""
    budget = Budget.of(dataset)
    return budget.left if budget else Decimal(0)


def complete_draft(dataset: Dataset, amount: str = "0.1") -> Release:
    """A draft with nothing left to choose."""
    return Release.objects.create(
        dataset=dataset,
        created_by=dataset.owner,
        title="Colours by age",
        columns=["colour", "age"],
        mechanism="laplace-histogram",
        parameters={"within_bins": "smooth"},
        amount=Decimal(amount),
        people=ROWS,
    )


def requested_release(dataset: Dataset, amount: str = "0.1") -> Release:
    """A confirmed release: its charge reserved, its job queued."""
    draft = complete_draft(dataset, amount)
    confirm(draft)
    draft.refresh_from_db()
    return draft


def confirm(draft: Release, by: User | None = None) -> bool:
    """Confirm what is shown now, as the review page's form does. by: whoever drafted it, if nobody else."""
    version, plan = drafts.plan_of(draft)
    shown = services.reviewed_as(version, plan)
    return services.request_release(draft, reviewed=shown, by=by or draft.created_by)


def written_again(release: Release) -> list[Artifact]:
    """The files of a measured release, as they are written now; stored, and not saved as rows."""
    reconstructed = results.reconstruct(release)
    return bundle.write(reconstructed, DisplayTexts.of(release), results.page_of(reconstructed))


def requested_values(dataset: Dataset, column: str = "colour") -> ValueChoice:
    """A private choice of a column's values at ε = 0.5 and δ = 10⁻⁷, confirmed, of a budget granted for it."""
    terms = ledger.GrantTerms(delta=Decimal("0.000001"))
    administrator = User.objects.filter(role=Role.ADMINISTRATOR).first() or person(
        "grants", Role.ADMINISTRATOR
    )
    ledger.grant(dataset, Decimal(1), definition="pure", reason="Values", by=administrator, terms=terms)
    plan = value_choices.plan_of(dataset, Decimal("0.5"), Decimal("0.0000001"))
    reviewed = value_choices.reviewed_as(dataset, column, plan)
    return value_choices.request(dataset, column, plan, reviewed=reviewed, by=dataset.owner)
