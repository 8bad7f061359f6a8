"""Pages: a person's mail and webhooks, and the hosts that administrators allow."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts import mailing
from dpportal.accounts.origins import origin_of
from dpportal.accounts.permissions import View, administrator_required, curator_required, current_user
from dpportal.accounts.recent_sign_in import is_recent, sign_in_again
from dpportal.jobs.claims import JobState
from dpportal.notices import announcing, hosts, services, switching_off
from dpportal.notices.delivery_job import PAUSES
from dpportal.notices.forms import HostForm, KindsForm, MailForm, WebhookForm
from dpportal.notices.models import AllowedHost, Webhook
from dpportal.notices.outbound import HostRefusedError
from dpportal.notices.services import WebhookError

UNPROCESSABLE = 422
DELIVERIES_SHOWN = 25
OfWebhook = Callable[[HttpRequest, Webhook], HttpResponseBase]


@curator_required
@require_http_methods(["GET", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """Mail, the webhooks that there are, and the form of a new one, whose secret is shown this once."""
    by, fresh, secret = current_user(request), None, ""
    form = WebhookForm(request.POST or None)
    if form.is_valid() and not is_recent(request):
        return sign_in_again(request, reverse("notices:page"))
    if form.is_valid():
        chosen = form.cleaned_data
        try:
            fresh, secret = services.add(by, chosen["address"], chosen["kinds"], origin_of(request))
            form = WebhookForm()
        except (WebhookError, HostRefusedError) as refusal:
            form.add_error(None, str(refusal))
    context = {
        "form": form,
        "fresh": fresh,
        "secret": secret,
        "webhooks": by.webhooks.all(),
        "mail": MailForm(initial={"kinds": announcing.mailed_kinds(by)}),
        "mail_is_sent": mailing.is_on(),
    }
    return render(request, "notices/page.html", context, status=UNPROCESSABLE if form.errors else 200)


@curator_required
@require_POST
def mail(request: HttpRequest) -> HttpResponseBase:
    """Choose what mail is about; nothing ends all of it."""
    form = MailForm(request.POST)
    if form.is_valid():
        services.choose_mail(current_user(request), form.cleaned_data["kinds"], origin_of(request))
        messages.success(request, _("Saved."))
    return redirect("notices:page")


def of_own_webhook(view: OfWebhook) -> View:
    """A view of one of the person's own webhooks; 404 for any other."""

    @curator_required
    @wraps(view)
    def guarded(request: HttpRequest, webhook_id: UUID) -> HttpResponseBase:
        return view(request, get_object_or_404(Webhook, pk=webhook_id, person=current_user(request)))

    return guarded


@require_http_methods(["GET", "POST"])
@of_own_webhook
def webhook(request: HttpRequest, own: Webhook) -> HttpResponseBase:
    """What it hears of, and its last deliveries."""
    form = KindsForm(request.POST or None, initial={"kinds": own.kinds})
    if form.is_valid():
        services.change(own, form.cleaned_data["kinds"], current_user(request))
        messages.success(request, _("Saved."))
        return redirect("notices:webhook", own.pk)
    context = {
        "webhook": own,
        "form": form,
        "deliveries": own.deliveries.all()[:DELIVERIES_SHOWN],
        "tries": len(PAUSES) + 1,
        "waiting": own.deliveries.filter(state=JobState.QUEUED).count(),
        "given_up": switching_off.given_up(own),
        "most_waiting": switching_off.MOST_WAITING,
        "off_after": switching_off.OFF_AFTER_DAYS,
    }
    return render(request, "notices/webhook.html", context, status=UNPROCESSABLE if form.errors else 200)


@require_POST
@of_own_webhook
def test(request: HttpRequest, own: Webhook) -> HttpResponseBase:
    """Send it a test."""
    try:
        services.test(own)
        messages.success(request, _("A test is on its way. Load this page again to see what became of it."))
    except WebhookError as refusal:
        messages.error(request, str(refusal))
    return redirect("notices:webhook", own.pk)


@require_POST
@of_own_webhook
def pause(request: HttpRequest, own: Webhook) -> HttpResponseBase:
    """Pause it, or let it go on."""
    services.pause(own, not own.paused, current_user(request))
    return redirect("notices:webhook", own.pk)


@require_POST
@of_own_webhook
def delete(request: HttpRequest, own: Webhook) -> HttpResponseBase:
    """Delete it."""
    services.delete(own, current_user(request))
    messages.success(request, _("Deleted."))
    return redirect("notices:page")


@administrator_required
@require_http_methods(["GET", "POST"])
def allowed_hosts(request: HttpRequest) -> HttpResponse:
    """The hosts that webhooks may call, and the form of one more."""
    form = HostForm(request.POST or None)
    if form.is_valid():
        hosts.allow(form.save(commit=False), current_user(request))
        messages.success(request, _("Webhooks may call this host from now on."))
        return redirect("webhook_hosts")
    context = {"form": form, "hosts": AllowedHost.objects.select_related("by"), "nav_section": "office"}
    return render(request, "notices/hosts.html", context, status=UNPROCESSABLE if form.errors else 200)


@administrator_required
@require_POST
def forbid_host(request: HttpRequest, host_id: int) -> HttpResponseBase:
    """Take a host off the list."""
    hosts.forbid(get_object_or_404(AllowedHost, pk=host_id), current_user(request))
    messages.success(request, _("Webhooks may not call this host any more."))
    return redirect("webhook_hosts")
