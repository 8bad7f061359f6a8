"""A person with an authenticator app, and what such an app shows."""

from __future__ import annotations

import pyotp
import pytest
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuthenticatorApp, User
from tests.dpportal.building import PASSWORD


class Desk(Client):
    """A browser at an address that passkeys are possible at."""

    def __init__(self) -> None:
        super().__init__(SERVER_NAME="localhost")

    def types_password(self, name: str = "curator", following: str = ""):
        form = {"username": name, "password": PASSWORD, "next": following}
        return self.post(reverse("accounts:sign_in"), form)

    def types_code(self, code: str):
        return self.post(reverse("accounts:second_step"), {"code": code})

    def signs_in(self, app: pyotp.TOTP) -> None:
        """With the password and a code of the app, which is none that was used."""
        self.types_password()
        self.types_code(app.now())

    @property
    def is_in(self) -> bool:
        return "_auth_user_id" in self.session

    def sets_up_app(self) -> tuple[pyotp.TOTP, str]:
        """The app of whoever is signed in, and the page that followed."""
        self.post(reverse("accounts:begin_app"))
        person = User.objects.get(pk=self.session["_auth_user_id"])
        app = pyotp.TOTP(AuthenticatorApp.objects.get(person=person).unconfirmed)
        answer = self.post(reverse("accounts:confirm_app"), {"code": app.now()})
        # The code that confirmed it is used; a test has no half minute to wait for the next.
        AuthenticatorApp.objects.update(last_step=0)
        return app, answer.text


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def app(curator) -> pyotp.TOTP:
    """That of the curator."""
    other = Desk()
    other.force_login(curator)
    return other.sets_up_app()[0]
