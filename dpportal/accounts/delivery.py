"""What a worker does with mail that waits: claims it, sends it, and deletes it, or tries again later."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable
from contextlib import closing
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPSenderRefused

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import F, QuerySet
from django.db.models.functions import Now
from django.utils.translation import override

from dpportal.accounts import reset_links
from dpportal.accounts.models import MailHint, OutgoingMail, User
from dpportal.jobs.clock import from_now
from dpportal.jobs.time_limits import limited
from dpportal.platform.stored_texts import translated

log = logging.getLogger(__name__)

# The pause doubles each time; after the last attempt, in some four hours, mail is given up.
PAUSE_SECONDS, ATTEMPTS = 60.0, 8
# Jobs wait while mail is sent: a batch begins no more after so long, and later what it waits for is interrupted. The
# last mail has the time between: a server that hangs ends it before, by EMAIL_TIMEOUT, one that dawdles does not.
BATCH_SECONDS, INTERRUPTED_AFTER_SECONDS, KILLED_AFTER_SECONDS = 5.0, 10.0, 60.0
# A server that answers so takes other mail; a ValueError is of a mail that cannot be written.
REFUSALS = (SMTPRecipientsRefused, SMTPSenderRefused, SMTPDataError, ValueError)
FAULTS = (SMTPException, OSError, SoftTimeLimitExceeded, ValueError)


def due_mail() -> QuerySet[OutgoingMail]:
    """Mail that was not tried, or whose time has come again."""
    return OutgoingMail.objects.filter(due_at__lte=Now())


def deliver_due() -> bool:
    """Send what is due over one connection, for some seconds. Returns whether more is due then.

    While the server is away or hangs, all mail waits.
    """
    if MailHint.objects.filter(hinted_at__gt=Now()).exists():
        return False
    until = time.monotonic() + BATCH_SECONDS
    try:
        with limited(INTERRUPTED_AFTER_SECONDS, KILLED_AFTER_SECONDS), closing(get_connection()) as server:
            while time.monotonic() < until and (mail := _claim()):
                _deliver(mail, server)
    except FAULTS:
        later = {"hinted_at": from_now(PAUSE_SECONDS)}
        MailHint.objects.update_or_create(pk=MailHint.ONLY, defaults=later)
        return False
    MailHint.objects.all().delete()
    return due_mail().exists()


def _claim() -> OutgoingMail | None:
    """Take the oldest that is due for one attempt; whoever comes meanwhile finds it not due."""
    while mail := due_mail().order_by("due_at", "pk").first():
        again = from_now(PAUSE_SECONDS * 2**mail.attempts)
        taken = due_mail().filter(pk=mail.pk, attempts=mail.attempts)
        if taken.update(attempts=F("attempts") + 1, due_at=again):
            mail.attempts += 1
            return mail
    return None


def _deliver(mail: OutgoingMail, server: BaseEmailBackend) -> None:
    """Send it. Raises one of FAULTS if the server takes no mail now."""
    try:
        for message in _messages(mail):
            server.open()
            message.connection = server
            message.send()
    except FAULTS as fault:
        log.warning("mail %s was not sent at attempt %s: %s", mail.pk, mail.attempts, type(fault).__name__)
        if mail.attempts >= ATTEMPTS:
            mail.delete()
        if not isinstance(fault, REFUSALS):
            raise
        return
    mail.delete()


def _in_language_of(mail: OutgoingMail) -> EmailMessage:
    """A text in the language of the person with this address, line by line: each is a text of its own.

    Of several, one who chose a language counts before one whose browser did, and the last who signed in before others.
    """
    people = User.objects.filter(email__iexact=mail.to).order_by(F("last_login").desc(nulls_last=True))
    named = sorted(people, key=lambda person: (not person.language, not person.browser_language))
    with override(named[0].mail_language if named else settings.LANGUAGE_CODE):
        text = "\n".join(translated(line) for line in mail.text.split("\n"))
        return EmailMessage(translated(mail.subject), text, to=[mail.to])


def _messages(mail: OutgoingMail) -> Iterable[EmailMessage]:
    """Each is asked for when the one before it was sent."""
    if not settings.EMAIL_URL:
        return []
    if mail.kind == OutgoingMail.Kind.TEXT:
        return [_in_language_of(mail)]
    if mail.person is None:
        return reset_links.answers(mail.to, mail.origin)
    return [reset_links.message(mail.person, mail.origin)] if mail.person.is_active else []
