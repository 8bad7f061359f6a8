"""Deliveries: a worker sends what waits, with pauses that grow, and gives up in the end."""

from __future__ import annotations

import time
from datetime import timedelta
from http import HTTPStatus

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.accounts.models import User
from dpportal.accounts.provider import standing
from dpportal.jobs.claims import ACTIVE, Claim, JobState
from dpportal.jobs.clock import from_now
from dpportal.jobs.runner import JobKind, register
from dpportal.notices import hosts, outbound, signing, switching_off
from dpportal.notices.models import Delivery, Webhook
from dpportal.notices.outbound import HostRefusedError, UnreachableError

# Seconds before each further try, about a day in all; after the last one a delivery is given up.
PAUSES = (5, 300, 1800, 7200, 18_000, 36_000, 36_000)
# So long the list of a webhook's deliveries goes back.
LISTED_FOR = timedelta(days=30)
USER_AGENT = "DPPortal-Webhooks/1"


class Deliveries(JobKind[Delivery]):
    """Deliveries to webhooks. One person's are sent one at a time, so that a slow receiver holds one worker."""

    name = "Delivery"
    model = Delivery
    related = ("webhook__person",)
    to_owner = "webhook__person_id"
    singly = True
    too_long = "Sending this took too long and was stopped."

    def work(self, job: Delivery, claim: Claim) -> None:
        webhook = job.webhook
        if webhook.paused or not may_hear(webhook.person):
            claim.finish(JobState.CANCELLED)
            return
        try:
            status = _send(job)
        except HostRefusedError as refusal:
            with transaction.atomic():
                claim.finish(JobState.FAILED, str(refusal), tries=job.tries + 1, status=None)
                switching_off.failed(webhook)
        except UnreachableError as fault:
            _try_later(job, claim, str(fault))
        else:
            _answered(job, claim, status)


DELIVERIES = register(Deliveries())


def may_hear(person: User) -> bool:
    """Whether a person's programs are still told of anything."""
    return person.is_active and person.is_curator and not standing.has_lapsed(person)


def _send(job: Delivery) -> int:
    """The status of the answer. Raises HostRefusedError and UnreachableError."""
    address, secret = job.webhook.address, job.webhook.secret
    if not (isinstance(address, str) and isinstance(secret, str)):
        raise HostRefusedError(_("The portal cannot open this webhook’s secret. Delete it and add another."))
    place, body = outbound.place_of(address), job.body.encode()
    line = hosts.allowing(place)
    signed = signing.headers(secret, str(job.pk), body, int(time.time()))
    headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT, **signed}
    return outbound.post(place, body, headers, private=line.private)


def _answered(job: Delivery, claim: Claim, status: int) -> None:
    if HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES:
        with transaction.atomic():
            claim.finish(JobState.DONE, tries=job.tries + 1, status=status, fault="")
            switching_off.worked(job.webhook)
    elif status == HTTPStatus.GONE:
        with transaction.atomic():
            Webhook.objects.filter(pk=job.webhook_id).update(paused=True)
            text = _("The receiver says that nobody listens there any more (410), so the webhook is paused.")
            claim.finish(JobState.FAILED, text, tries=job.tries + 1, status=status)
    else:
        _try_later(job, claim, _("The receiver answered %(status)s.") % {"status": status}, status)


@transaction.atomic
def _try_later(job: Delivery, claim: Claim, fault: str, status: int | None = None) -> None:
    """Put it off, and with it what else waits for the same receiver; or give it up."""
    switching_off.failed(job.webhook)
    if job.tries >= len(PAUSES):
        text = _("%(fault)s It was tried %(times)s times.") % {"fault": fault, "times": job.tries + 1}
        claim.finish(JobState.FAILED, text, tries=job.tries + 1, status=status)
        return
    pause = PAUSES[job.tries]
    claim.postpone(pause, tries=job.tries + 1, status=status, fault=fault)
    later = from_now(pause)
    others = Delivery.objects.filter(webhook=job.webhook_id, state=JobState.QUEUED, hinted_at__lt=later)
    others.exclude(pk=job.pk).update(hinted_at=later, queued_at=later)


def forget() -> None:
    """Delete what ended long ago."""
    ended = Delivery.objects.exclude(state__in=ACTIVE)
    ended.filter(at__lt=timezone.now() - LISTED_FOR).delete()
