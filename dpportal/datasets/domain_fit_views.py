"""The page on which the curator looks how the table fits its declarations, before anything is spent."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_GET, require_http_methods

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import domain_fit as fits
from dpportal.datasets.access import with_dataset
from dpportal.datasets.models import Dataset, Fit, Right


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def fit(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Shows the fit to what is declared now; posting asks a worker for it.

    "back": the page that asks for a look, to which this one leads back.
    """
    if reason := fits.why_not(dataset, current_user(request)):
        messages.error(request, reason)
        return redirect("datasets:home", dataset.pk)
    back = request.POST.get("back") or request.GET.get("back", "")
    if request.method == "POST":
        fits.ask(dataset)
        query = f"?{urlencode({'back': back})}" if back else ""
        return redirect(reverse("datasets:fit", args=[dataset.pk]) + query)
    context = {
        "dataset": dataset,
        "fit": fits.shown(dataset, current_user(request)),
        "job": _job(dataset),
        "possible": fits.current_digest(dataset) is not None,
        "back": back if url_has_allowed_host_and_scheme(back, None) else "",
        "people": dataset.releases.estimated_people(),
        "nav_section": "datasets",
    }
    return render(request, "datasets/fit.html", context)


@curator_required
@require_GET
@with_dataset(Right.OWN)
def progress(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """How far the look is, without any of its numbers; tells htmx to reload the page when it has ended."""
    job = _job(dataset)
    response = render(request, "datasets/_fit_progress.html", {"dataset": dataset, "job": job})
    if job is None or not job.active:
        response["HX-Refresh"] = "true"
    return response


def _job(dataset: Dataset) -> Fit | None:
    return Fit.objects.filter(dataset=dataset).first()
