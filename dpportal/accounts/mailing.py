"""Mail waits in the database until a worker has sent it: no page waits for a mail server, and no message is lost."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import transaction

from dpportal.accounts.models import OutgoingMail, User
from dpportal.accounts.tasks import send

Kind = OutgoingMail.Kind
# More waits for nobody who forgot a password: a stranger can ask without end.
WAITING_RESETS = 1000


def is_on() -> bool:
    """Whether the portal can send mail."""
    return bool(settings.EMAIL_URL)


def write(to: Iterable[str], subject: str, text: str) -> None:
    """One message to each address, so that nobody sees another's, once this transaction is kept."""
    for address in sorted({address for address in to if address}):
        _keep(OutgoingMail(to=address, subject=subject, text=text))


def write_reset(to: str, origin: str, person: User | None = None) -> None:
    """A link to choose a new password, for this person or else for whoever has the address when it is sent.

    The same is done here for every address, so that no answer's time tells whose is known.
    """
    if person or OutgoingMail.objects.filter(kind=Kind.RESET, person=None).count() < WAITING_RESETS:
        _keep(OutgoingMail(kind=Kind.RESET, to=to, origin=origin, person=person))


@transaction.atomic
def _keep(mail: OutgoingMail) -> None:
    if is_on():
        mail.save()
        send.delay_on_commit(mail.pk)
