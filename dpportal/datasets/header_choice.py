"""Whether a file's first line holds names, where these look like somebody's values: asked before anything else."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dpportal.accounts import audit
from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import records
from dpportal.datasets.access import with_dataset
from dpportal.datasets.buttons import change_reading
from dpportal.datasets.models import Dataset, Right

# Names that are shown.
SHOWN_NAMES = 6


def doubted_names(dataset: Dataset) -> list[str]:
    """The names that look like somebody's values, while nobody said what they are; else none."""
    is_open = dataset.can_change_parse_options and bool(dataset.upload)
    if not (is_open and dataset.facts.get("names_look_like_row")):
        return []
    return [column["name"] for column in dataset.columns][:SHOWN_NAMES]


@curator_required
@require_POST
@with_dataset(Right.OWN)
def choose_header(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Take the first line as names, or read the file again with it as a row."""
    if request.POST.get("header") == "data":
        options = replace(records.options_of(dataset), header=False, title_lines=0, header_lines=None)
        return change_reading(request, dataset, options)
    Dataset.objects.filter(pk=dataset.pk).update(facts={**dataset.facts, "names_look_like_row": False})
    audit.record(current_user(request), "changed how the file is read", dataset)
    return redirect("datasets:home", dataset.pk)
