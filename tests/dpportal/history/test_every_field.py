"""Each field of each model is bound by the chain, compared by `verify`, or may change, for a reason that stands here.

A new field fails here until somebody has decided which. What is said to be bound is forged, and has to be noticed.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from dpportal.api.models import ApiToken, TokenCharge
from dpportal.approvals.models import Approval
from dpportal.budgets.models import BudgetRequest
from dpportal.datasets import keys
from dpportal.datasets.models import Dataset
from dpportal.datasets.near_duplicates import TableSketch
from dpportal.history import imprints, watched
from dpportal.management.commands.check_restored import report
from dpportal.operations import restore_check, verification
from dpportal.platform.sealed import SealedField
from dpportal.releases.execution import RELEASES
from dpportal.streams.downloads import DOWNLOADS
from dpportal.streams.models import Stream
from dpportal.tables.connections.models import Connection, SharedTable
from tests.dpportal import building
from tests.dpportal.history.test_chain import unguarded
from tests.dpportal.history.test_imprints import world  # noqa: F401 (a fixture)

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.every_day]

# By the reason: models of which nothing has to stay, and single fields.
FREE: dict[str, set[str]] = {
    "work that is under way: what it leads to is bound when it is done": {
        *(
            "jobs.Heartbeat",
            "jobs.StoredQuestion",
            "catalogue.BundleCheck",
            "datasets.Conversion",
            "datasets.Fit",
        ),
        *("releases.ReleaseJob", "streams.StreamJob", "streams.SeriesBundle", "notices.Delivery"),
        *("datasets.BegunUpload", "datasets.DirectUpload", "datasets.UploadPiece", "releases.ChangedPromise"),
        *("accounts.OutgoingMail", "accounts.MailHint", "api.AnsweredRequest", "datasets.LeftTrace"),
    },
    "who is signed in, and who tried: each beginning, end and failure is a line of the audit record": {
        *("accounts.PersonSession", "accounts.FailedSignIn", "accounts.ResetRequest", "sessions.Session"),
        *("axes.AccessAttempt", "axes.AccessAttemptExpiration", "axes.AccessFailureLog", "axes.AccessLog"),
    },
    "of Django, and read by nobody here: roles decide, and the audit record has what was done": {
        *(
            "admin.LogEntry",
            "auth.Group",
            "auth.Permission",
            "auth.Group_permissions",
            "contenttypes.ContentType",
        ),
        *("accounts.User_groups", "accounts.User_user_permissions", "accounts.User.groups"),
        *("accounts.User.user_permissions", "accounts.User.first_name", "accounts.User.last_name"),
        *("auth.Group.permissions",),
    },
    "a person's own display, or what they have looked at": {
        *(
            "accounts.User.language",
            "accounts.User.browser_language",
            "accounts.User.unseen_changes",
            "notices.MailChoice",
            "datasets.Share.seen",
        ),
        *("budgets.BudgetRequest.seen", "value_choices.ValueChoice.seen"),
    },
    "counted with each use": {
        *("accounts.User.last_login", "accounts.AuthenticatorApp.last_step"),
        *(
            "accounts.AuthenticatorApp.wrong_codes",
            "accounts.Passkey.sign_count",
            "accounts.Passkey.last_used_at",
        ),
        *("accounts.ProviderIdentity.seen_at", "api.ApiToken.used_at", "api.ApiToken.minute"),
        *("api.ApiToken.requests", "streams.Token.used_at", "streams.Token.minute", "streams.Token.requests"),
        *("catalogue.Readership", "notices.Webhook.failing_since"),
    },
    "not in force yet": {"accounts.AuthenticatorApp.unconfirmed"},
    "how far the job is": {
        *(f"value_choices.ValueChoice.{name}" for name in ("state", "step", "progress", "progress_total")),
        *(f"value_choices.ValueChoice.{name}" for name in ("attempts", "fence", "lease_until", "hinted_at")),
        *(
            f"value_choices.ValueChoice.{name}"
            for name in ("queued_at", "started_at", "finished_at", "failure")
        ),
        "value_choices.ValueChoice.undeclared",
    },
    "says of records what their table says, by which it is made again; a digest of it would outlive their erasure": {
        "streams.PeriodSketch",
    },
    "when it was changed last, or by which words its files are known to be of today": {
        *("releases.Release.changed_at", "releases.Release.words", "releases.Release.spending"),
        *("releases.Release.words_at", "releases.Release.promises", "streams.Stream.changed_at"),
    },
}
# What no field of a row in the world can show: rows of a set are compared with the row that has it, and links and
# imprints are what everything else is compared with (`test_chain`).
ELSEWHERE = {
    *("history.Link", "history.Imprint", "datasets.Dataset_same_people", "connections.Connection_curators"),
}
REASONS = {name: reason for reason, names in FREE.items() for name in names}


def every_field() -> Iterator[tuple[str, type[models.Model], models.Field[Any, Any]]]:
    for model in apps.get_models(include_auto_created=True):
        for field in (*model._meta.concrete_fields, *model._meta.many_to_many):
            yield f"{model._meta.label}.{field.name}", model, field


def bound() -> list[tuple[str, type[models.Model], models.Field[Any, Any]]]:
    """The fields that are said to be noticed; the key of a row is what the history calls it by."""
    return [
        (name, model, field)
        for name, model, field in every_field()
        if not {name, model._meta.label} & {*REASONS, *ELSEWHERE} and not field.primary_key
    ]


@pytest.fixture
def rows(world, dataset, other_curator, curator, administrator) -> None:  # noqa: F811
    """Beside the world what waits, what is connected, and what binds datasets."""
    now = timezone.now()
    Approval.objects.create(
        kind="spends", subject="a", summary="s", by=curator, expires_at=now, answered_by=administrator
    )
    BudgetRequest.objects.create(dataset=dataset, by=curator, reason="For this")
    connection = Connection.objects.create(name="Clinic", host="db.example")
    connection.curators.add(curator)
    SharedTable.objects.create(connection=connection, title="Visits", table="visits")
    other = building.stored_dataset(other_curator)
    with watched.joining(Dataset.same_people.field, other, [dataset]):
        dataset.same_people.add(other)
    TableSketch.objects.all().delete()
    building.requested_values(dataset)
    TableSketch.objects.create(dataset=dataset, content="a sample")
    RELEASES.run(building.requested_release(dataset).pk)
    DOWNLOADS.run(Stream.objects.get().pk)
    keys.for_writing(dataset.pk)
    TokenCharge.objects.create(token=ApiToken.objects.get(), entry=world.charge)


def test_reasons_name_what_is_there():
    names = {name for name, _model, _field in every_field()}
    labels = {model._meta.label for _name, model, _field in every_field()}
    assert {*REASONS, *ELSEWHERE} <= names | labels


def test_each_field_that_may_not_change_is_noticed(rows):
    assert noticed() == ""
    with unguarded():
        unseen = [name for name, model, field in bound() if not _is_noticed(model, field)]
    assert not unseen, unseen
    assert noticed() == ""


def noticed(model: type[models.Model] | None = None) -> str:
    """The first that `manage.py verify` would say. model: looked at first."""
    return next(_all_findings(model), "")


def _all_findings(model: type[models.Model] | None) -> Iterator[str]:
    if model and (kind := imprints.kinds.get(str(model._meta.model_name))):
        yield from imprints._differences(kind)
    yield from verification.problems([])
    yield from report(restore_check.findings())


def _is_noticed(model: type[models.Model], field: models.Field[Any, Any]) -> bool:
    rows = models.QuerySet(model).order_by("pk")
    ends = [row for row in (rows.first(), rows.last()) if row]
    return any(_is_noticed_of(row, field) for row in ends)


def _is_noticed_of(row: models.Model, field: models.Field[Any, Any]) -> bool:
    with transaction.atomic():
        try:
            with transaction.atomic():
                if isinstance(field, models.ManyToManyField):
                    models.QuerySet(field.remote_field.through).delete()
                else:
                    models.QuerySet(type(row)).filter(pk=row.pk).update(
                        **{field.attname: _other(getattr(row, field.attname), field)}
                    )
            return noticed(type(row)) != ""
        except IntegrityError:  # the database allows no other value here
            return True
        finally:
            transaction.set_rollback(True)


def _other(value: Any, field: models.Field[Any, Any]) -> Any:
    """A value that it does not have."""
    if isinstance(field, models.ForeignKey):
        field = field.target_field
    match field:
        case SealedField() | models.JSONField():
            return {"forged": 1}
        case models.BinaryField():
            return b"forged"
        case models.BooleanField():
            return not value
        case models.UUIDField():
            return uuid.uuid4()
        case models.DateTimeField():
            return (value or datetime(2020, 1, 1, tzinfo=UTC)) + timedelta(days=1)
        case models.DateField():
            return (value or datetime(2020, 1, 1, tzinfo=UTC).date()) + timedelta(days=1)
        case models.DecimalField():
            return (value or Decimal(0)) + 1
        case models.IntegerField() | models.AutoField():
            return (value or 0) + 1
    return f"{value or ''}x"
