"""Where a reader drops a download and reads whether it is what this portal published."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from dpportal.accounts.addresses import client_network
from dpportal.catalogue import bundle_checks, standing
from dpportal.catalogue.bundle_checks import MOST_BYTES, TooManyChecksError
from dpportal.serving.files import refusal, takes_files_from_anyone
from mechanisms.verify.finding import State

RESULTS = {
    State.HOLDS: gettext_lazy("Holds"),
    State.FAILED: gettext_lazy("Failed"),
    State.NOT_CHECKED: gettext_lazy("Not checked"),
    State.STATED: gettext_lazy("The portal’s word"),
}


class BundleForm(forms.Form):
    """One download."""

    file = forms.FileField(
        label=gettext_lazy("The zip, as you downloaded it"),
        widget=forms.ClearableFileInput(attrs={"accept": ".zip"}),
        error_messages={"required": gettext_lazy("Choose the zip of a release or a running count.")},
    )


@takes_files_from_anyone(MOST_BYTES)
@require_http_methods(["GET", "HEAD", "POST"])
def check(request: HttpRequest) -> HttpResponse:
    """Asks for a download, and has a worker look at it."""
    sends = request.method == "POST"
    form = BundleForm(request.POST if sends else None, request.FILES if sends else None, label_suffix="")
    if sends:
        if reason := refusal(request):
            form.add_error(None, reason)
        elif form.is_valid():
            try:
                requested = bundle_checks.ask(form.cleaned_data["file"], client_network(request) or "")
                return redirect("checked", requested.pk)
            except TooManyChecksError as fault:
                form.add_error(None, str(fault))
    context = {"form": form, "limit": filesizeformat(MOST_BYTES)}
    return render(request, "catalogue/check.html", context, status=200 if not form.errors else 422)


@never_cache
@require_safe
def checked(request: HttpRequest, check_id: UUID) -> HttpResponse:
    """What was found, or how far it is."""
    stored = bundle_checks.find(check_id)
    lines = [{**each, "result": RESULTS[each["state"]]} for each in (stored and stored.findings) or []]
    remarks = list(standing.remarks(stored)) if stored else []
    context = {"check": stored, "lines": lines, "remarks": remarks}
    return render(request, "catalogue/checked.html", context, status=200 if stored else 404)


@never_cache
@require_safe
def progress(request: HttpRequest, check_id: UUID) -> HttpResponse:
    """Asks for itself again while the check is not done; then the page is loaded anew."""
    stored = bundle_checks.find(check_id)
    response = render(request, "catalogue/_checking.html", {"check": stored})
    if stored is None or not stored.active:
        response["HX-Refresh"] = "true"
    return response
