"""The job of accounts: to send mail that waits."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings

from dpportal.accounts import delivery, sign_ins
from dpportal.accounts.models import MailHint
from dpportal.jobs.clock import db_ago
from dpportal.jobs.models import Heartbeat


@shared_task  # type: ignore[untyped-decorator]
def send_waiting() -> None:
    """Send mail for some seconds; what is left waits behind the jobs that are in the queue by then."""
    if delivery.deliver_due():
        hint()


def hint() -> None:
    """Send the message that mail waits, unless it is in the queue, its batch is sent, or all mail is put off."""
    _, is_new = MailHint.objects.get_or_create(pk=MailHint.ONLY)
    if is_new:
        send_waiting.delay()


def sweep() -> None:
    """Enter failed sign-ins in the record, and hint at mail that waits: once a lease, while a worker lives.

    Its message was lost, or its time has come again.
    """
    sign_ins.enter_failed()
    if delivery.due_mail().exists() and Heartbeat.can_work():
        MailHint.objects.filter(hinted_at__lt=db_ago(settings.JOB_LEASE_SECONDS)).delete()
        hint()
