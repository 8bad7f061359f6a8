"""A curator's last question before everyone may see a running count, what its page says besides, and taking it back."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets.access import open_datasets
from dpportal.datasets.models import Right
from dpportal.pages.publishing import WithdrawalForm, details_of, publication_of
from dpportal.streams import choosing, services
from dpportal.streams.access import stream_for
from dpportal.streams.models import Stream
from dpportal.streams.services import StreamError


@curator_required
@require_http_methods(["GET", "POST"])
def publish(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    """A last question, then everyone may see the series and each new period."""
    stream = stream_for(request, stream_id)
    if not stream.was_opened:
        messages.error(request, _("Only a stream that was opened can be published."))
        return redirect("streams:home", stream.pk)
    # What the truth says has no part in whether it is published: that would tell of the data.
    verdict = choosing.expected_of(stream)
    form = publication_of(
        request,
        stream,
        open_datasets(request, Right.RELEASE),
        verdict,
        lambda by: services.publish(stream, by),
    )
    if form is None:
        done = _("Published. Anyone with the address sees the series, and each new period at once.")
        messages.success(request, done)
        return redirect("streams:public", stream.pk)
    context = {
        **_around(stream),
        "readers_see": _("the noisy running count, and each new period at once"),
        "form": form,
        "verdict": verdict,
        "foreseen": True,
    }
    return render(request, "publish.html", context, status=422 if form.errors else 200)


@curator_required
@require_http_methods(["GET", "POST"])
def details(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    """Where an opened stream stands among others, public or not."""
    stream = stream_for(request, stream_id)
    if not stream.was_opened:
        return redirect("streams:home", stream.pk)
    form = details_of(request, stream, open_datasets(request, Right.RELEASE))
    if form is None:
        messages.success(request, _("Saved."))
        return redirect("streams:public", stream.pk)
    context = {**_around(stream), "form": form}
    return render(request, "details.html", context, status=422 if form.errors else 200)


@curator_required
@require_POST
def withdraw(request: HttpRequest, stream_id: UUID) -> HttpResponseBase:
    stream, form = stream_for(request, stream_id), WithdrawalForm(request.POST)
    if not form.is_valid():
        messages.error(request, str(form.errors["because"][0]))
        return redirect("streams:home", stream.pk)
    try:
        services.withdraw(stream, current_user(request), form.cleaned_data["because"])
        messages.success(
            request, _("Withdrawn. The page and the downloads are closed; the budget stays spent.")
        )
    except StreamError as refusal:
        messages.error(request, str(refusal))
    return redirect("streams:home", stream.pk)


def _around(stream: Stream) -> dict[str, Any]:
    """What pages about its publication show around their form."""
    return {
        "publication": stream,
        "dataset": stream.dataset,
        "back_url": reverse("streams:home", args=[stream.pk]),
        "nav_section": "streams",
    }
