"""What a person does with their webhooks and mail."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.jobs.claims import ACTIVE
from dpportal.notices import announcing, hosts, outbound, signing
from dpportal.notices.events import Event, EventKind
from dpportal.notices.models import Delivery, MailChoice, Webhook

MOST_WEBHOOKS = 10


class WebhookError(Exception):
    """What cannot be done with a webhook now; the message says why and what to do."""


@transaction.atomic
def add(by: User, address: str, kinds: Collection[str], origin: str) -> tuple[Webhook, str]:
    """A new webhook, and its secret, which is shown this once.

    Raises WebhookError where there are enough, HostRefusedError where no administrator allowed the host.
    """
    place = outbound.place_of(address)
    hosts.allowing(place)
    User.objects.select_for_update(no_key=True).get(pk=by.pk)  # two at once are counted one after the other
    if by.webhooks.count() >= MOST_WEBHOOKS:
        text = _("You have %(most)s webhooks, the most that one person may have. Delete one first.")
        raise WebhookError(text % {"most": MOST_WEBHOOKS})
    secret = signing.new_secret()
    webhook = Webhook.objects.create(
        person=by, address=address, kinds=sorted(kinds), secret=secret, origin=origin
    )
    audit.record(by, "added a webhook", webhook, outbound.with_port(place.host, place.port))
    return webhook, secret


@transaction.atomic
def change(webhook: Webhook, kinds: Collection[str], by: User) -> None:
    """Let it hear of these events from now on."""
    Webhook.objects.filter(pk=webhook.pk).update(kinds=sorted(kinds))
    audit.record(by, "changed a webhook", webhook, ", ".join(sorted(kinds)))
    webhook.refresh_from_db()


@transaction.atomic
def pause(webhook: Webhook, paused: bool, by: User) -> None:
    """Send it nothing, or go on: what happens meanwhile is not sent later."""
    if Webhook.objects.filter(pk=webhook.pk, paused=not paused).update(paused=paused, failing_since=None):
        audit.record(by, "paused a webhook" if paused else "went on with a webhook", webhook)
    webhook.refresh_from_db()


@transaction.atomic
def delete(webhook: Webhook, by: User) -> None:
    """Forget it, with its secret and its deliveries."""
    audit.record(by, "deleted a webhook", webhook)
    webhook.delete()


@transaction.atomic
def test(webhook: Webhook) -> Delivery:
    """Send it an event that means nothing. Raises WebhookError while another one waits, or while it is paused."""
    Webhook.objects.select_for_update(no_key=True).get(pk=webhook.pk)
    waiting = webhook.deliveries.filter(kind=EventKind.TEST, state__in=ACTIVE)
    if webhook.paused:
        raise WebhookError(_("This webhook is paused. Let it go on, then send a test."))
    if waiting.exists():
        raise WebhookError(_("A test is on its way. See below what became of it."))
    path = reverse("notices:webhook", args=[webhook.pk])
    return announcing.deliver(webhook, Event(EventKind.TEST, {"webhook": str(webhook.pk)}, path, "", ""))


def choose_mail(person: User, kinds: Collection[str], origin: str) -> None:
    """Send this person mail about these events, and no others."""
    chosen = {"kinds": sorted(kinds), "origin": origin}
    MailChoice.objects.update_or_create(person=person, defaults=chosen)
