"""A private choice of a column's values: what was confirmed, its charge, its job, and which values were kept."""

from __future__ import annotations

import uuid
from fractions import Fraction

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.budgets.models import LedgerEntry
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.history.watched import WatchedManager
from dpportal.jobs.announcements import AnnouncedJob
from dpportal.platform.stored_texts import in_site_language
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Attribute, Categorical
from mechanisms.partition_selection.choosing import ValueChoicePlan


def title_of(column: str) -> str:
    """What a choice of this column's values is called."""
    return _("Values of %(column)s") % {"column": column}


@in_site_language
def stored_title(column: str) -> str:
    """The same for what is kept and read by others: who reads it sees it in their own language."""
    return title_of(column)


class ValueChoice(AnnouncedJob):
    """One choice, from its confirmation on; its id is the identity of its job and of its charge.

    kept: the values, sorted; None before they were chosen and paid for. undeclared: why they could not be declared,
    where that was so. measured_at: when they were.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="value_choices")
    column = models.CharField(max_length=200)
    domain_version = models.ForeignKey(DomainVersion, on_delete=models.PROTECT, related_name="+")
    plan_json = models.JSONField()
    charge = models.OneToOneField(LedgerEntry, on_delete=models.PROTECT, related_name="value_choice")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    measured_at = models.DateTimeField(null=True)
    kept = models.JSONField(null=True)
    undeclared = models.TextField(blank=True)
    to_dataset = "dataset"
    to_person = "created_by"

    objects = WatchedManager()

    class Meta(AnnouncedJob.Meta):
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("values:chosen", args=[self.dataset_id, self.pk])

    @property
    def title(self) -> str:
        return title_of(self.column)

    @property
    def stored_title(self) -> str:
        """How the line of the ledger that pays for it begins."""
        return stored_title(self.column)

    @property
    def ids(self) -> dict[str, str]:
        return {"dataset": str(self.dataset_id), "values": str(self.pk)}

    @property
    def requester(self) -> User:
        return self.created_by

    def declares(self, attribute: Attribute) -> bool:
        """Whether this declaration of its column has values that were kept, whatever was typed besides."""
        declared = attribute.values if isinstance(attribute, Categorical) else ()
        return not set(self.kept or ()).isdisjoint(declared)

    @property
    def plan(self) -> ValueChoicePlan:
        return ValueChoicePlan.from_json(self.plan_json)

    @property
    def loss(self) -> Loss:
        """What it cost, with its δ."""
        account, charge = self.charge.budget, self.charge
        definition = Definition(account.definition)
        return Loss(definition, Fraction(charge.amount), self.domain_version.unit, Fraction(charge.delta))
