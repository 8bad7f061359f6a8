"""Two sessions that a password opened set up a first factor in the same moment: one does, the other proves it first."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse

from dpportal.accounts import recent_sign_in
from dpportal.accounts.models import AuthenticatorApp, Passkey, RecoveryCode
from tests.dpportal.accounts.device import Device

STEP = "accounts:second_step"
IS_RECENT = recent_sign_in.is_recent


@pytest.fixture
def other(desk, curator):
    """A second browser in which the password was given."""
    browser = type(desk)()
    browser.types_password()
    desk.types_password()
    return browser


@pytest.fixture
def meanwhile(monkeypatch) -> Callable[[Callable[[], object]], None]:
    """What happens when the next request has passed the middleware, and its view has not begun."""

    def happens(act: Callable[[], object]) -> None:
        def asked(request):
            monkeypatch.setattr(recent_sign_in, "is_recent", IS_RECENT)
            act()
            return IS_RECENT(request)

        monkeypatch.setattr(recent_sign_in, "is_recent", asked)

    return happens


def passkey(desk) -> tuple[str, dict[str, str]]:
    """The request that adds a new device."""
    answer = Device().makes(desk.post(reverse("accounts:passkey_options")).json())
    return reverse("accounts:add_passkey"), {"name": "My phone", "answer": answer}


def test_a_passkey_that_came_when_another_session_had_set_up_the_first_is_not_added(desk, other, meanwhile):
    request = passkey(other)
    meanwhile(desk.sets_up_app)
    assert other.post(*request).url == reverse(STEP)
    assert not Passkey.objects.exists() and AuthenticatorApp.objects.filter(secret__isnull=False).exists()
    assert desk.get("/datasets/").status_code == 200 and not other.is_in


def test_the_session_that_came_later_proves_the_passkey_that_was_first(desk, other, meanwhile):
    desk.post(reverse("accounts:begin_app"))
    first = passkey(other)
    meanwhile(lambda: other.post(*first))
    assert desk.post(reverse("accounts:confirm_app"), {"code": "123456"}).url == reverse(STEP)
    assert Passkey.objects.exists() and not AuthenticatorApp.objects.filter(secret__isnull=False).exists()
    assert other.get("/datasets/").status_code == 200 and not desk.is_in


@pytest.mark.parametrize(
    ("name", "form"), [("new_codes", {}), ("begin_app", {}), ("remove_factor", {"which": "app"})]
)
def test_codes_are_not_read_nor_anything_removed_or_begun(desk, other, meanwhile, name, form):
    kept = []

    def first() -> None:
        desk.sets_up_app()
        kept[:] = AuthenticatorApp.objects.values(), sorted(RecoveryCode.objects.values_list("digest"))

    meanwhile(first)
    assert other.post(reverse(f"accounts:{name}"), form).url == reverse(STEP)
    assert list(kept[0]) == list(AuthenticatorApp.objects.values())
    assert kept[1] == sorted(RecoveryCode.objects.values_list("digest"))
