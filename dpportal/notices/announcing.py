"""Writes notices down, in the transaction of what happened; workers send them once that is committed."""

from __future__ import annotations

import json
from collections.abc import Iterable

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.accounts import mailing
from dpportal.accounts.models import User
from dpportal.notices import switching_off
from dpportal.notices.delivery_job import DELIVERIES, may_hear
from dpportal.notices.events import Event, EventKind
from dpportal.notices.models import Delivery, MailChoice, Webhook
from dpportal.platform.stored_texts import in_site_language

# Of what a person gets mail who chose nothing: the answer to their own question, which others make them wait for.
MAILED_AT_FIRST = (EventKind.BUDGET,)


@transaction.atomic
def announce(event: Event, people: Iterable[User]) -> None:
    """Have these people hear of an event, as each of them chose: by mail, and by their webhooks."""
    listening = {person.pk: person for person in people if person.is_active and person.is_curator}
    for webhook in Webhook.objects.filter(person__in=listening, paused=False):
        if event.kind in webhook.kinds and may_hear(listening[webhook.person_id]):
            deliver(webhook, event)
    chosen = {choice.pk: choice for choice in MailChoice.objects.filter(person__in=listening)}
    for pk, person in listening.items():
        _mail(event, person, chosen.get(pk))


def deliver(webhook: Webhook, event: Event) -> Delivery:
    """Have a webhook hear of an event once this transaction is committed."""
    body = {
        "type": event.kind.value,
        "timestamp": timezone.now().isoformat(timespec="seconds"),
        "data": {**event.data, "address": webhook.origin + event.path},
    }
    delivery = Delivery.objects.create(webhook=webhook, kind=event.kind, body=json.dumps(body))
    switching_off.give_up_the_oldest(webhook)
    DELIVERIES.hint_on_commit(delivery.pk)
    return delivery


def mailed_kinds(person: User) -> list[str]:
    """Of what a person gets mail."""
    choice = MailChoice.objects.filter(person=person).first()
    return list(choice.kinds) if choice else list(MAILED_AT_FIRST)


@in_site_language
def _mail(event: Event, person: User, choice: MailChoice | None) -> None:
    if event.kind not in (choice.kinds if choice else MAILED_AT_FIRST):
        return
    page = f"\n\n{choice.origin}{event.path}" if choice and choice.origin else ""
    end = _("You choose what you get mail about on the page “Notices” of your account.")
    mailing.write([person.email], event.subject, f"{event.text}{page}\n\n{end}")
