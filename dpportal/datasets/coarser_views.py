"""Pages on which a coarser column is made of a declared one, and removed."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import services
from dpportal.datasets.coarser import can_be_coarser
from dpportal.datasets.coarser_forms import GONE, TOO_FEW_CELLS, CoarserForm
from dpportal.datasets.declared import declared_of
from dpportal.datasets.domain_views import column_of, context_of
from mechanisms.domain import DomainError


@curator_required
@require_http_methods(["GET", "POST"])
def coarser(request: HttpRequest, dataset_id: UUID, position: int) -> HttpResponseBase:
    """Put cells of a declared column together into a second, coarser declaration of it."""
    dataset, column = column_of(request, dataset_id, position)
    finer = declared_of(dataset).get(column)
    if finer is None or not can_be_coarser(finer):
        messages.info(request, TOO_FEW_CELLS)
        return redirect("datasets:column", dataset.pk, position)
    form = CoarserForm(request.POST or None, finer=finer)
    if request.method == "POST" and form.is_valid():
        try:
            new = form.keep(dataset, current_user(request))
        except DomainError as wrong:
            form.add_error("name", str(wrong))
        else:
            messages.success(request, _("Saved: %(column)s.") % {"column": new.name})
            return redirect("datasets:column", dataset.pk, position)
    context = {
        **context_of(dataset),
        "form": form,
        "column": column,
        "position": position,
        "attribute": finer,
    }
    return render(request, "datasets/coarser.html", context, status=422 if form.errors else 200)


@curator_required
@require_POST
def remove(request: HttpRequest, dataset_id: UUID, position: int) -> HttpResponseBase:
    """Take a coarser column away; the one that it was made of stays."""
    dataset, column = column_of(request, dataset_id, position)
    existing = declared_of(dataset).get(request.POST.get("name", ""))
    if existing is None or existing.source != column:
        messages.error(request, GONE)
    else:
        services.declare(dataset, existing.name, None, by=current_user(request))
        messages.success(request, _("Removed: %(column)s.") % {"column": existing.name})
    return redirect("datasets:column", dataset.pk, position)
