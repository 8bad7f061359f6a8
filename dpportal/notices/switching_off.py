"""Webhooks that take nothing: how many messages wait for one at most, and when one is switched off, with mail."""

from __future__ import annotations

from django.db import transaction
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import mailing
from dpportal.jobs.claims import JobState
from dpportal.jobs.clock import db_ago
from dpportal.notices.models import Delivery, Webhook
from dpportal.platform.stored_texts import in_site_language

# So many messages wait for a webhook; of more, the oldest are given up.
MOST_WAITING = 1000
GIVEN_UP = gettext_noop("Given up: more messages waited for this webhook than are kept, and the newest stay.")
# A webhook that took nothing for so long is switched off.
OFF_AFTER_DAYS = 3
DAY_SECONDS = 24 * 3600.0


def give_up_the_oldest(webhook: Webhook) -> None:
    """Have no more than MOST_WAITING messages wait for it."""
    waiting = webhook.deliveries.filter(state=JobState.QUEUED)
    surplus = list(waiting.order_by("-at").values_list("pk", flat=True)[MOST_WAITING:])
    if surplus:
        ended = {"state": JobState.FAILED, "failure": GIVEN_UP, "finished_at": Now(), "lease_until": None}
        waiting.filter(pk__in=surplus).update(**ended)


def given_up(webhook: Webhook) -> int:
    """How many of its messages were given up for those that came after them, in the time that is listed."""
    return Delivery.objects.filter(webhook=webhook, state=JobState.FAILED, failure=GIVEN_UP).count()


def worked(webhook: Webhook) -> None:
    """It took a message."""
    Webhook.objects.filter(pk=webhook.pk).exclude(failing_since=None).update(failing_since=None)


@transaction.atomic
def failed(webhook: Webhook) -> None:
    """It did not take a message; where it has taken none for days, it is switched off."""
    own = Webhook.objects.filter(pk=webhook.pk)
    own.filter(failing_since=None).update(failing_since=Now())
    if own.filter(paused=False, failing_since__lt=db_ago(OFF_AFTER_DAYS * DAY_SECONDS)).update(paused=True):
        _tell(webhook)


@in_site_language
def _tell(webhook: Webhook) -> None:
    page = webhook.origin + reverse("notices:webhook", args=[webhook.pk])
    text = _(
        "A webhook of yours took no message for %(days)s days, so it is switched off: nothing more is sent to it. Mend "
        "your program, then let the webhook go on, on its page."
    )
    subject = _("A webhook of yours is switched off")
    mailing.write([webhook.person.email], subject, f"{text % {'days': OFF_AFTER_DAYS}}\n\n{page}")
