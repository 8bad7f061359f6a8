"""What releases of a column say of its values, where these were chosen privately."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from dpportal.budgets.amounts import plain
from dpportal.datasets.models import Dataset
from dpportal.platform.json_types import Json
from dpportal.value_choices.models import ValueChoice


def choices_of(
    dataset: Dataset, columns: Collection[str], before: datetime | None = None
) -> QuerySet[ValueChoice]:
    """The choices of these columns' values that were made, the oldest first. before: that a release was confirmed."""
    made = ValueChoice.objects.filter(dataset=dataset, column__in=columns).exclude(measured_at=None)
    made = made.filter(measured_at__lte=before) if before else made
    return made.select_related("charge__budget", "domain_version").order_by("measured_at")


def sentences(choices: Collection[ValueChoice]) -> list[str]:
    """Each choice with its cost, which comes on top of what a release costs."""
    text = _("The values of “%(column)s” were chosen privately, at %(loss)s besides.")
    return [text % {"column": choice.column, "loss": choice.loss} for choice in choices]


def facts(choices: Collection[ValueChoice]) -> list[Json]:
    """The same for programs."""
    return [
        {
            "column": choice.column,
            "definition": choice.charge.budget.definition,
            "amount": plain(choice.charge.amount),
            "delta": plain(choice.charge.delta),
        }
        for choice in choices
    ]
