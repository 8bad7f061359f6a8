"""Links with which a person chooses a password: mailed to the person, or shown to an administrator once.

Each kind has tokens of its own, so that the record can say which one was used.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.contrib.auth.forms import PasswordResetForm
from django.contrib.auth.tokens import PasswordResetTokenGenerator, default_token_generator
from django.core.mail import EmailMessage
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext_noop, override

from dpportal.accounts import audit
from dpportal.accounts.models import AuditEntry, User

LINK_REQUESTED = gettext_noop("asked for a new password")
BETWEEN_MAILS = timedelta(minutes=10)


class ShownTokens(PasswordResetTokenGenerator):
    """Tokens of links that an administrator has seen."""

    key_salt = "dpportal.accounts.reset_links.ShownTokens"


shown_tokens = ShownTokens()


def mailed_path(person: User) -> str:
    """The path of a link that goes to the person's mail alone."""
    return _path("accounts:replace", person, default_token_generator)


def shown_path(person: User) -> str:
    """The path of a link that an administrator is shown."""
    return _path("accounts:choose", person, shown_tokens)


def answers(address: str, origin: str) -> Iterator[EmailMessage]:
    """A link for everyone with this address who got none just now; whoever asks for the next has sent the last."""
    for person in _people(address):
        yield message(person, origin)
        audit.record(person, LINK_REQUESTED, person)


def message(person: User, origin: str) -> EmailMessage:
    """A link for a person. origin: of the portal, such as https://portal.example."""
    context = {"name": person.get_username(), "link": origin + mailed_path(person)}
    with override(person.mail_language):
        subject = render_to_string("accounts/forgotten_subject.txt").strip()
        text = render_to_string("accounts/forgotten_mail.txt", context)
    return EmailMessage(subject, text, to=[person.email])


def _people(address: str) -> Iterator[User]:
    lately = AuditEntry.objects.filter(action=LINK_REQUESTED, at__gte=timezone.now() - BETWEEN_MAILS)
    sent = set(lately.values_list("by", flat=True))
    return (person for person in PasswordResetForm().get_users(address) if person.pk not in sent)


def _path(name: str, person: User, tokens: PasswordResetTokenGenerator) -> str:
    encoded = urlsafe_base64_encode(force_bytes(person.pk))
    return reverse(name, args=[encoded, tokens.make_token(person)])
