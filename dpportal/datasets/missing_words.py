"""Words in a table's first rows that usually mean “no value”, which its owner may declare to mean it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import derived, records, services
from dpportal.datasets.access import with_dataset
from dpportal.datasets.declared import declared_of
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, Right
from mechanisms.domain import Attribute, Categorical


def undeclared_words(dataset: Dataset) -> list[str]:
    """The words, of all columns, as they are spelt there; none where it is fixed how the file is read.

    A word that a column's own list of values has is a value.
    """
    if not (dataset.has_rows and dataset.can_change_parse_options):
        return []
    declared, known = declared_of(dataset), records.options_of(dataset).missing
    undeclared = [
        word
        for column in derived.described_columns(dataset)
        for word in column.get("missing_words", ())
        if word not in known and word not in _values(declared.get(column["name"]))
    ]
    return list(dict.fromkeys(undeclared))


def _values(attribute: Attribute | None) -> Collection[str]:
    return attribute.values if isinstance(attribute, Categorical) else ()


@curator_required
@require_POST
@with_dataset(Right.OWN)
def count_as_missing(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Declare those of the words that the owner left ticked, beside how the file is read."""
    if not declare_ticked(request, dataset):
        messages.error(request, _("Choose words first."))
    return redirect("datasets:domain", dataset.pk)


def declare_ticked(request: HttpRequest, dataset: Dataset) -> bool:
    """Declare those of the words that were sent ticked, and no value of a column; whether there were any."""
    ticked = request.POST.getlist("words")
    words = [word for word in undeclared_words(dataset) if word in ticked]
    if words:
        _declare(request, dataset, words)
    return bool(words)


def _declare(request: HttpRequest, dataset: Dataset, words: list[str]) -> None:
    options = records.options_of(dataset)
    try:
        services.change_parse_options(
            dataset, replace(options, missing=(*options.missing, *words)), current_user(request)
        )
    except DatasetError as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Saved: these words count as missing, in every column."))
