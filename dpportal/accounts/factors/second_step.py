"""The moment between a right password and the second factor: nobody is signed in yet."""

from __future__ import annotations

import time

from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from dpportal.accounts import audit, locking, people
from dpportal.accounts.addresses import client_address
from dpportal.accounts.audit_words import CAME_FROM, clause
from dpportal.accounts.factors import recovery, totp
from dpportal.accounts.models import User
from dpportal.accounts.sign_ins import How

WAITING = "second_step"
# A password that was typed counts so long.
SECONDS = 600


def begin(request: HttpRequest, person: User, following: str) -> None:
    """Remember in a session of nobody whose password was right. following: the page that was asked for."""
    request.session.flush()
    request.session.set_expiry(SECONDS)
    request.session[WAITING] = {
        "person": person.pk,
        "password": person.get_session_auth_hash(),
        "since": int(time.time()),
        "next": following,
    }


def waiting(request: HttpRequest) -> User | None:
    """Whose password was right here just now, and still is."""
    noted = request.session.get(WAITING)
    if not noted or abs(time.time() - noted["since"]) > SECONDS:
        return None
    person = User.objects.filter(pk=noted["person"], is_active=True).first()
    same = person and constant_time_compare(noted["password"], person.get_session_auth_hash())
    return person if same else None


def following(request: HttpRequest) -> str:
    """The page that was asked for; empty if none was."""
    return str(request.session.get(WAITING, {}).get("next", ""))


def proved_by(request: HttpRequest, person: User, code: str) -> How | None:
    """By which of the person's codes this is proved; None where it is none of them, which is counted and recorded."""
    if totp.accepts(person, code.replace(" ", "")):
        return How.CODE
    if recovery.accepts(person, code):
        return How.RECOVERY
    totp.count_wrong(person)
    refuse(request, person)
    return None


def refuse(request: HttpRequest, person: User) -> None:
    """Count and record a wrong code. Whoever typed it knows the password, so its person is told once it is locked."""
    came_from = clause(CAME_FROM, name=client_address(request))
    if locking.count_wrong_code(request, person):
        people.note(person, person, "failed the second step too often", came_from, alarming=True)
    else:
        audit.record(person, "failed the second step", person, came_from)
