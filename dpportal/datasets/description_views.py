"""What a curator writes of a dataset for everyone."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets.access import with_dataset
from dpportal.datasets.description_forms import DescriptionForm, description_of
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.title_lines import proposed_description


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def describe(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """What readers may know of a dataset, and whether they do; the permission is on record."""
    proposed = {} if request.method == "POST" else proposed_description(dataset)
    form = DescriptionForm(request.POST or None, instance=description_of(dataset), initial=proposed)
    if request.method == "POST" and form.is_valid():
        form.keep(current_user(request))
        shown = form.cleaned_data["shown"]
        messages.success(
            request, _("Saved; readers see it.") if shown else _("Saved; nobody else sees it yet.")
        )
        return redirect("datasets:home", dataset.pk)
    context = {"dataset": dataset, "form": form, "nav_section": "datasets", "proposed": proposed}
    return render(request, "datasets/description.html", context, status=422 if form.errors else 200)
