"""All second factors of a person."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from dpportal.accounts import people
from dpportal.accounts.models import AuthenticatorApp, Passkey, RecoveryCode, User


@dataclass(frozen=True)
class Factors:
    """What a person has beside a password. app: None where no code has confirmed one. codes: recovery codes left."""

    app: AuthenticatorApp | None
    passkeys: list[Passkey]
    codes: int

    @classmethod
    def of(cls, person: User) -> Factors:
        """As they are now."""
        app = AuthenticatorApp.objects.filter(person=person, secret__isnull=False).first()
        return cls(app, list(person.passkeys.all()), person.recovery_codes.count())

    @property
    def is_any(self) -> bool:
        """Whether the person is asked for more than a password; recovery codes alone are no factor."""
        return bool(self.app or self.passkeys)

    @property
    def is_last(self) -> bool:
        """Whether without the app, or without a passkey, none would be left."""
        return len(self.passkeys) + bool(self.app) == 1


def has_any(person: User) -> bool:
    """The same in one query, for what is asked at each request."""
    apps = AuthenticatorApp.objects.filter(person=person, secret__isnull=False).values_list("person_id")
    return apps.union(Passkey.objects.filter(person=person).values_list("person_id"), all=True).exists()


@transaction.atomic
def remove_all(person: User, by: User, detail: str = "") -> bool:
    """Forget everything, of a person who has lost it. Returns whether there was anything; the person is told."""
    apps, _of_each = AuthenticatorApp.objects.filter(person=person).delete()
    keys, _of_each = Passkey.objects.filter(person=person).delete()
    codes, _of_each = RecoveryCode.objects.filter(person=person).delete()
    removed = apps + keys + codes
    if removed:
        people.note(person, by, people.NO_FACTORS, detail, alarming=True)
    return bool(removed)
