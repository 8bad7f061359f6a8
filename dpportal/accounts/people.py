"""The only place that changes people's accounts: each change is recorded, and told to the person."""

from __future__ import annotations

from collections.abc import Collection

from django.db import transaction
from django.utils.crypto import get_random_string
from django.utils.translation import gettext as _, gettext_noop

from dpportal.accounts import audit, mailing
from dpportal.accounts.audit_words import clause, clauses
from dpportal.accounts.models import Role, User, created_on_server
from dpportal.platform.stored_texts import in_site_language

LINK_SHOWN = gettext_noop("was shown a password link")
LINK_SENT = gettext_noop("had a password link sent")
NO_FACTORS = "removed all second factors"
LINKED = gettext_noop("linked the institution's sign-in")
UNLINKED = "unlinked the institution's sign-in"
NEW_ROLE = gettext_noop("by the institution's sign-in: %(role)s → %(other)s")
NO_ROLE = gettext_noop("by the institution's sign-in: no role")
# It lets nobody in.
RENAMED = gettext_noop("changed the display name")
# After which somebody else could sign in with the account.
IN_HAND = ("made the account", "changed the account", LINK_SHOWN, LINK_SENT, NO_FACTORS)
# What is recorded of a field that was changed; a password is recorded only as a fact.
CHANGED = {
    "username": gettext_noop("username: %(before)s → %(after)s"),
    "first_name": gettext_noop("first_name: %(before)s → %(after)s"),
    "last_name": gettext_noop("last_name: %(before)s → %(after)s"),
    "display_name": gettext_noop("display_name: %(before)s → %(after)s"),
    "email": gettext_noop("email: %(before)s → %(after)s"),
    "role": gettext_noop("role: %(role)s → %(other)s"),
    "is_active": gettext_noop("is_active: %(can)s → %(could)s"),
}
ROLES = {
    Role.CURATOR: gettext_noop("curator"),
    Role.ADMINISTRATOR: gettext_noop("administrator"),
    Role.ANALYST: gettext_noop("analyst"),
}
ROLE, EMAIL = gettext_noop("role: %(role)s"), gettext_noop("email: %(name)s")
ARRIVED = gettext_noop("arrived by the institution's sign-in")
TOOK_ROLE = gettext_noop("got another role")
BY_PROVIDER = gettext_noop("by the institution's sign-in")
AT_THE_SERVER = gettext_noop("on the server's command line, by whoever may run commands there")


@transaction.atomic
def create(person: User, by: User) -> None:
    """Keep a new person, with a password that nobody knows."""
    person.set_password(get_random_string(40))
    person.save()
    note(person, by, "made the account", _role_and_email(person))


def create_from_provider(person: User) -> None:
    """Keep a new person of the institution's sign-in, without a password."""
    person.set_unusable_password()
    person.save()
    note(person, person, ARRIVED, clauses(BY_PROVIDER, _role_and_email(person)))


def _role_and_email(person: User) -> str:
    return clauses(clause(ROLE, role=ROLES[Role(person.role)]), clause(EMAIL, name=person.email or "–"))


@transaction.atomic
def take_role(person: User, role: str) -> None:
    """Give the person the role that the institution's sign-in says."""
    old = User.objects.select_for_update().get(pk=person.pk).role
    person.role = role
    if old != role:
        person.save(update_fields=["role", "is_staff", "is_superuser"])
        note(
            person,
            person,
            TOOK_ROLE,
            clause(NEW_ROLE, role=ROLES[Role(old)], other=ROLES[Role(role)]),
            alarming=True,
        )


@transaction.atomic
def lost_role(person: User) -> None:
    """Take role and sessions from a person to whom the institution's sign-in gives none any more.

    Tokens and requests that wait end with the role; the next sign-in that is given one brings it back.
    """
    take_role(person, Role.ANALYST)
    person.sessions.all().delete()
    note(person, person, "was turned away", NO_ROLE)


@transaction.atomic
def save(person: User, by: User, fields: Collection[str]) -> None:
    """Keep what a form changed of a person. Both the old and the new mail address are written to.

    fields: those that it changed. No other is written: since the form was shown, somebody may have taken a role away.
    """
    old = User.objects.select_for_update().get(pk=person.pk)
    written = [field for field in CHANGED if field in fields]
    person.save(update_fields=[*written, *(("is_staff", "is_superuser") if "role" in written else ())])
    changes = [
        _changed(field, getattr(old, field) or "–", getattr(person, field) or "–")
        for field in written
        if getattr(old, field) != getattr(person, field)
    ]
    if changes:
        action = RENAMED if written == ["display_name"] else "changed the account"
        note(person, by, action, clauses(*changes), old_address=old.email)


def _changed(field: str, old: object, new: object) -> str:
    names = {"role": ("role", "other"), "is_active": ("can", "could")}.get(field, ("before", "after"))
    return clause(CHANGED[field], **dict(zip(names, (old, new), strict=True)))


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


def connect() -> None:
    """Record each account that somebody at the server's command line makes."""
    created_on_server.connect(_created_on_server)


def _created_on_server(person: User, **_: object) -> None:
    note(
        person, person, "got an account", clauses(AT_THE_SERVER, clause(ROLE, role=ROLES[Role(person.role)]))
    )


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
    text = _("The account “%(name)s” on the portal: %(by)s %(action)s. %(detail)s")
    remedy = _(
        "If you do not know why, sign in and open “Sessions and changes” in the account menu; if you cannot sign in, "
        "call an administrator whom you trust."
    )
    words = {"name": person.get_username(), "by": by.get_username(), "action": action, "detail": detail}
    mailing.write([person.email, old_address], _("Your account on the portal"), f"{text % words}\n\n{remedy}")
