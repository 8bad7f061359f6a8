"""Codes of an authenticator app, which change every half minute (TOTP, RFC 6238)."""

from __future__ import annotations

from datetime import datetime
from hmac import compare_digest

import pyotp
from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from dpportal.accounts import people
from dpportal.accounts.models import AuthenticatorApp, User

SECONDS = 30
# Clocks differ: the code before and the code after are taken, too.
STEPS_AROUND = 1
# Wrong codes in a row, in however long a time, after which a right one could be a guess: three of a million are right
# (NIST SP 800-63B, 5.2.2, allows 100). Whoever gets so far knows the password.
MOST_WRONG = 100


def begin(person: User) -> None:
    """Make a secret that counts once a code of it was typed; until then what was there before counts."""
    AuthenticatorApp.objects.update_or_create(person=person, defaults={"unconfirmed": pyotp.random_base32()})


def unconfirmed(person: User) -> str:
    """The secret that waits for its first code; empty if none does."""
    waiting = AuthenticatorApp.objects.filter(person=person).first()
    return str(waiting.unconfirmed or "") if waiting else ""


def address(person: User, secret: str) -> str:
    """What an app reads from a picture: the secret, and whose it is."""
    return pyotp.TOTP(secret).provisioning_uri(name=person.get_username(), issuer_name=_("DP Portal"))


@transaction.atomic
def confirm(person: User, code: str) -> bool:
    """Take the secret that waits, in place of the former, if this is its code."""
    waiting = AuthenticatorApp.objects.select_for_update().filter(person=person).first()
    step = _step(str(waiting.unconfirmed or ""), code, timezone.now()) if waiting else None
    if waiting is None or step is None:
        return False
    AuthenticatorApp.objects.filter(pk=person.pk).update(
        secret=waiting.unconfirmed, unconfirmed=None, last_step=step, added_at=timezone.now(), wrong_codes=0
    )
    people.note(person, person, "set up an authenticator app")
    return True


@transaction.atomic
def accepts(person: User, code: str) -> bool:
    """Whether this is a code of now that was not taken before; then it is taken."""
    app = AuthenticatorApp.objects.filter(person=person).first()
    step = _step(str(app.secret or ""), code, timezone.now()) if app else None
    if step is None:
        return False
    unused = AuthenticatorApp.objects.filter(person=person, last_step__lt=step, wrong_codes__lt=MOST_WRONG)
    return unused.update(last_step=step, wrong_codes=0) == 1


def count_wrong(person: User) -> None:
    """Count a code that was none of the app's; the person is told when no more are taken."""
    own = AuthenticatorApp.objects.filter(person=person)
    own.update(wrong_codes=F("wrong_codes") + 1)
    if own.filter(wrong_codes=MOST_WRONG).exists():
        people.note(person, person, "typed too many wrong codes", alarming=True)


def forget_wrong_codes(person: User) -> None:
    """Take codes again after too many wrong ones."""
    AuthenticatorApp.objects.filter(person=person).update(wrong_codes=0)


def _step(secret: str, code: str, now: datetime) -> int | None:
    """The half minute, near now, whose code this is; all are compared, so that the time tells nothing."""
    if not secret:
        return None
    current, codes = int(now.timestamp()) // SECONDS, pyotp.TOTP(secret)
    steps = range(current - STEPS_AROUND, current + STEPS_AROUND + 1)
    matching = [s for s in steps if compare_digest(codes.generate_otp(s).encode(), code.encode())]
    return matching[-1] if matching else None


@transaction.atomic
def remove(person: User) -> None:
    """Forget the app."""
    removed, _by_model = AuthenticatorApp.objects.filter(person=person).delete()
    if removed:
        people.note(person, person, "removed the authenticator app")
