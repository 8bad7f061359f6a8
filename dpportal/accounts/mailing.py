"""Mail waits in the database until a worker has sent it: no page waits for a mail server, and no message is lost."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction

from dpportal.accounts import reset_limits
from dpportal.accounts.models import OutgoingMail, User
from dpportal.accounts.tasks import hint

MailKind = OutgoingMail.Kind


def is_on() -> bool:
    """Whether the portal can send mail."""
    return bool(settings.EMAIL_URL)


def write(to: Iterable[str], subject: str, text: str) -> None:
    """One message to each address, so that nobody sees another's, once this transaction is kept."""
    for address in sorted({address for address in to if address}):
        _keep(OutgoingMail(to=address, subject=subject, text=text))


def write_reset(person: User, origin: str) -> None:
    """A link with which this person chooses a new password."""
    _keep(OutgoingMail(kind=MailKind.RESET, to=person.email, origin=origin, person=person))


@transaction.atomic
def request_reset(address: str, origin: str, network: str) -> None:
    """The same for whoever has this address when it is sent, unless it is asked for too often.

    The same is done here for every address and every network, so that no answer's time tells whose is known.
    """
    mail = OutgoingMail(kind=MailKind.RESET, to=address, origin=origin)
    _keep(mail)
    beyond = reset_limits.is_beyond(address, network)
    OutgoingMail.objects.filter(pk=mail.pk if beyond else 0).delete()


@transaction.atomic
def _keep(mail: OutgoingMail) -> None:
    if is_on():
        mail.save()
        transaction.on_commit(hint, robust=True)
