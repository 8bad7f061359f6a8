"""The job of accounts: to send mail that waits."""

from __future__ import annotations

from celery import shared_task

from dpportal.accounts import delivery


@shared_task  # type: ignore[untyped-decorator]
def send(mail_id: int) -> None:
    """Send this mail, if nobody did."""
    delivery.deliver(mail_id)


def sweep() -> None:
    """Hint again at mail whose message was lost, or whose time has come again."""
    for mail in delivery.overdue().only("pk"):
        send.delay(mail.pk)
