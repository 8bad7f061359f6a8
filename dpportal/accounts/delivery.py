"""What a worker does with mail that waits: claims it, sends it, and deletes it, or tries again later."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from dpportal.accounts import reset_links
from dpportal.accounts.models import OutgoingMail
from dpportal.jobs.clock import db_ago, from_now

log = logging.getLogger(__name__)

# The pause doubles each time; after the last attempt, in some four hours, mail is given up.
PAUSE_SECONDS, ATTEMPTS = 60.0, 8
# A hint that was sent with new mail is given this long, before the sweep sends another.
LOST_AFTER_SECONDS = 30.0


def deliver(mail_id: int) -> None:
    """Send mail that nobody else is sending. A server that is away is asked again later."""
    mail = _claim(mail_id)
    if mail is None:
        return
    try:
        _send(mail)
    except (SMTPException, OSError) as fault:
        log.warning("mail %s was not sent at attempt %s: %s", mail.pk, mail.attempts, type(fault).__name__)
        if mail.attempts < ATTEMPTS:
            return
    mail.delete()


def overdue() -> QuerySet[OutgoingMail]:
    """Mail whose hint was lost, or whose time has come again."""
    lost = Q(attempts=0, due_at__lte=db_ago(LOST_AFTER_SECONDS))
    return OutgoingMail.objects.filter(lost | Q(attempts__gt=0, due_at__lte=Now()))


def _claim(mail_id: int) -> OutgoingMail | None:
    """Take it for one attempt; whoever comes meanwhile finds it not due."""
    due = OutgoingMail.objects.filter(Q(attempts=0) | Q(due_at__lte=Now()), pk=mail_id)
    mail = due.first()
    if mail is None:
        return None
    again = from_now(PAUSE_SECONDS * 2**mail.attempts)
    taken = due.filter(attempts=mail.attempts).update(attempts=F("attempts") + 1, due_at=again)
    mail.attempts += 1
    return mail if taken else None


def _send(mail: OutgoingMail) -> None:
    if not settings.EMAIL_URL:
        return
    if mail.kind == OutgoingMail.Kind.RESET:
        _send_link(mail)
    else:
        EmailMessage(mail.subject, mail.text, to=[mail.to]).send()


def _send_link(mail: OutgoingMail) -> None:
    if mail.person is None:
        reset_links.answer(mail.to, mail.origin)
    elif mail.person.is_active:
        reset_links.mail(mail.person, mail.origin)
