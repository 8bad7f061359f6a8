"""Why a dataset whose table another one has cannot be used; the other one is named to its own owner alone."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset


@dataclass(frozen=True)
class SameTable:
    """original: the dataset of the same table, where the reader owns it."""

    title: str
    text: str
    original: Dataset | None


def same_table(dataset: Dataset, reader: User) -> SameTable | None:
    """What the reader is told of a dataset whose table is that of another one; None of any other dataset."""
    original = dataset.duplicate_of
    if original is None or not dataset.is_duplicate:
        return None
    title = (
        _("You have a dataset of this table already.")
        if dataset.is_remote
        else _("This table was uploaded before.")
    )
    if original.owner_id != reader.pk:
        return SameTable(title, _("Its content is that of another dataset of whoever uploaded it."), None)
    text = _(
        "Its content is that of %(name)s. Use that dataset, so that one budget protects the same people."
    )
    return SameTable(title, text % {"name": original.name}, original)


def usable_copy(dataset: Dataset) -> Dataset | None:
    """The oldest other dataset of the same owner and the same table, which has its records; None if there is none."""
    copies = Dataset.objects.filter(owner=dataset.owner_id, fingerprint=dataset.fingerprint)
    usable = copies.exclude(pk=dataset.pk).exclude(fingerprint="").order_by("created_at")
    return next((copy for copy in usable if copy.has_records), None)
