"""From a dataset's page to the method in one step: a summary of every declared column."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect

from dpportal.accounts.permissions import current_user
from dpportal.datasets.models import Dataset
from dpportal.releases import services
from dpportal.releases.models import Release
from dpportal.releases.products.summary.form import SummaryForm, usual_columns
from dpportal.releases.wizard.choices import declared_columns
from dpportal.releases.wizard.starting import starting
from mechanisms.domain import Domain


@starting
def summarise(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Begin a draft of a summary; where something is left to choose, its second step asks for that."""
    draft = services.start_draft(dataset, current_user(request))
    draft.product = Release.Product.SUMMARY
    declared = declared_columns(draft)
    form = SummaryForm(_chosen(request, declared), declared=declared, draft=draft)
    if form.is_valid():
        form.apply(draft)
    draft.save(update_fields=["product", "columns", "people", "parameters"])
    return redirect("releases:method" if form.is_valid() else "releases:columns", draft.pk)


def _chosen(request: HttpRequest, declared: Domain) -> QueryDict:
    """What was posted, with every column ticked that is not a coarser or finer one of the groups."""
    chosen = request.POST.copy()
    read = {a.name: a.column for a in declared.attributes}
    group = read.get(chosen.get("group", ""))
    chosen.setlist("columns", [name for name in usual_columns(declared) if read[name] != group])
    return chosen
