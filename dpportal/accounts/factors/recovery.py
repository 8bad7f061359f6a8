"""Codes on paper, each of which takes the place of a lost device once."""

from __future__ import annotations

import hashlib

from django.db import transaction
from django.utils.crypto import get_random_string

from dpportal.accounts import people
from dpportal.accounts.models import RecoveryCode, User

CODES = 8
# 24 of 32 signs are 120 random bits: nobody finds a code from its digest by trying, so a plain digest protects it
# (ASVS 5, 6.5.2).
SIGNS, LENGTH, GROUP = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 24, 4


@transaction.atomic
def make(person: User) -> list[str]:
    """New codes in place of the former ones. They are returned here and never again."""
    RecoveryCode.objects.filter(person=person).delete()
    codes = [_spaced(get_random_string(LENGTH, SIGNS)) for _ in range(CODES)]
    RecoveryCode.objects.bulk_create(RecoveryCode(person=person, digest=_digest(code)) for code in codes)
    people.note(person, person, "made recovery codes")
    return codes


@transaction.atomic
def accepts(person: User, code: str) -> bool:
    """Whether this is one of the person's codes; then it is used up, and the person is told."""
    used, _by_model = RecoveryCode.objects.filter(person=person, digest=_digest(code)).delete()
    if used:
        people.note(person, person, "signed in with a recovery code", alarming=True)
    return bool(used)


def _spaced(code: str) -> str:
    return "-".join(code[i : i + GROUP] for i in range(0, len(code), GROUP))


def _digest(code: str) -> str:
    """Of a code however it was typed."""
    plain = "".join(sign for sign in code.upper() if sign.isalnum())
    return hashlib.sha256(f"recovery code:{plain}".encode()).hexdigest()
