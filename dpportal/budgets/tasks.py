"""Mail about budgets, sent by a worker where the site has a mail server."""

from __future__ import annotations

from smtplib import SMTPException
from typing import Any

from celery import shared_task
from django.conf import settings
from django.core.mail import EmailMessage

RETRIES = 5
PAUSE_SECONDS = 60


@shared_task(bind=True, max_retries=RETRIES)
def send_mail(self: Any, to: list[str], subject: str, text: str) -> None:
    """One message to each address, so that nobody sees another's. A server that is away is asked again later."""
    if not settings.EMAIL_URL:
        return
    first, *others = to
    try:
        EmailMessage(subject, text, to=[first]).send()
    except (SMTPException, OSError) as fault:
        raise self.retry(exc=fault, countdown=PAUSE_SECONDS) from fault
    if others:
        send_mail.delay(others, subject, text)
