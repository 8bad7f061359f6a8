"""The only place that changes people's accounts: each change is recorded, and told to the person."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit, mailing
from dpportal.accounts.models import Role, User
from dpportal.platform.stored_texts import in_site_language

# The fields that are recorded with old and new value; a password is recorded only as a fact.
FIELDS = ("username", "first_name", "last_name", "display_name", "email", "role", "is_active")
LINK_SHOWN = gettext_noop("was shown a password link")
LINK_SENT = gettext_noop("had a password link sent")
NO_FACTORS = "removed all second factors"
LINKED = gettext_noop("linked the institution's sign-in")
UNLINKED = "unlinked the institution's sign-in"
# After which somebody else could sign in with the account.
IN_HAND = ("made the account", "changed the account", LINK_SHOWN, LINK_SENT, NO_FACTORS)
BY_PROVIDER = "by the institution's sign-in"
AT_THE_SERVER = "on the server's command line, by whoever may run commands there"


@transaction.atomic
def create(person: User, by: User) -> None:
    """Keep a new person, with a password that nobody knows."""
    person.set_password(get_random_string(40))
    person.save()
    note(person, by, "made the account", f"role: {person.role}; email: {person.email or '–'}")


def create_from_provider(person: User) -> None:
    """Keep a new person of the institution's sign-in, without a password."""
    person.set_unusable_password()
    person.save()
    note(
        person, person, "got an account", f"{BY_PROVIDER}; role: {person.role}; email: {person.email or '–'}"
    )


@transaction.atomic
def take_role(person: User, role: str) -> None:
    """Give the person the role that the institution's sign-in says."""
    old = User.objects.select_for_update().get(pk=person.pk).role
    person.role = role
    if old != role:
        person.save(update_fields=["role", "is_staff", "is_superuser"])
        note(person, person, "got another role", f"{BY_PROVIDER}: {old} → {role}", alarming=True)


@transaction.atomic
def lost_role(person: User) -> None:
    """Take role and sessions from a person to whom the institution's sign-in gives none any more.

    Tokens and requests that wait end with the role; the next sign-in that is given one brings it back.
    """
    take_role(person, Role.ANALYST)
    person.sessions.all().delete()
    note(person, person, "was turned away", f"{BY_PROVIDER}: no role")


@transaction.atomic
def save(person: User, by: User, fields: Collection[str]) -> None:
    """Keep what a form changed of a person. Both the old and the new mail address are written to.

    fields: those that it changed. No other is written: since the form was shown, somebody may have taken a role away.
    """
    old = User.objects.select_for_update().get(pk=person.pk)
    written = [field for field in FIELDS if field in fields]
    person.save(update_fields=[*written, *(("is_staff", "is_superuser") if "role" in written else ())])
    changes = [
        f"{field}: {getattr(old, field) or '–'} → {getattr(person, field) or '–'}"
        for field in written
        if getattr(old, field) != getattr(person, field)
    ]
    if changes:
        note(person, by, "changed the account", "; ".join(changes), old_address=old.email)


@transaction.atomic
def chose_password(person: User, how: str = "", *, alarming: bool = False) -> None:
    """Record that the person has a new password. alarming: somebody else could have chosen it."""
    User.objects.filter(pk=person.pk).update(must_change_password=False)
    note(person, person, "chose a new password", how, alarming=alarming)


@transaction.atomic
def got_password(person: User) -> None:
    """Record that somebody at the server's command line set the person's password, and have the person choose one."""
    User.objects.filter(pk=person.pk).update(must_change_password=True)
    note(person, person, "got a password", AT_THE_SERVER, alarming=True)


def created_at_server(person: User) -> None:
    """Record an account that somebody at the server's command line has made."""
    note(person, person, "got an account", f"{AT_THE_SERVER}; role: {person.role}")


@transaction.atomic
def send_link(person: User, by: User, origin: str) -> None:
    """Have a worker mail the person a link to choose a password."""
    note(person, by, LINK_SENT)
    mailing.write_reset(person, origin)


@in_site_language
@transaction.atomic
def note(
    person: User, by: User, action: str, detail: str = "", *, old_address: str = "", alarming: bool = False
) -> None:
    """Record an act on a person's account, and tell the person: by mail, and on every page if somebody else did it."""
    audit.record(by, action, person, detail)
    if alarming or by.pk != person.pk:
        User.objects.filter(pk=person.pk).update(unseen_changes=True)
    text = _(
        "The account “%(name)s” on the portal: %(by)s %(action)s. %(detail)s\n\n"
        "If you do not know why, sign in and open “Sessions and changes” in the account menu; if you cannot sign in, "
        "call an administrator whom you trust."
    )
    words = {"name": person.get_username(), "by": by.get_username(), "action": action, "detail": detail}
    mailing.write([person.email, old_address], _("Your account on the portal"), text % words)
