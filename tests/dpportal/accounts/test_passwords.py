"""Passwords that others guess early are refused; one that somebody else has seen opens no page but its own change."""

import ast
import hashlib
import re
from pathlib import Path
from random import Random
from string import ascii_letters, digits

import pytest
from django.conf import global_settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from dpportal import settings as portal
from dpportal.accounts.models import Role, User
from dpportal.operations import demonstration
from tests.dpportal.building import PASSWORD

CHOSEN = "seven quiet lemons dancing"
PERSON = User(
    username="emustermann", first_name="Erika", last_name="Mustermann", email="e.m@health-office.example"
)
GUESSED = [
    "Summer2024",
    "Summer2024!!",
    "Summer2024Summer",
    "Hospital2026",
    "Hospital2026!!!",
    "MyHospital2026",
    "Krankenhaus2026",
    "Sommer2025Sommer",
    "Winter2025Winter2026",
    "Statistik-2026",
    "Password123456",
    "P@ssw0rd2026!!",
    "qwertyuiop123456",
    "123456789012",
    "aaaaaaaaaaaaaaaa",
    "dpportal-dpportal",
    "PrivacyPortal2026",
    "privacy-portal-1",
    "localhost-portal-7",
    "ErikaMustermann1985!",
    "emustermann-2026",
    "health-office-2026",
    "kX9vTq2mWp4",
    "Summer2024Winter2025",
    "Sommer2026Herbst2026",
    "Welcome-to-2026",
    "gesundheit-2026-amt",
    "Universitaetsklinikum2026",
    "Kr4nk3nh4us2026",
    "KrankenhausBerlin",
    "Januar2026Februar2026März2026",
    "bundesministerium für gesundheit",
    "Gesundheit Amt Berlin",
    "S0mm3r2026!?",
    "H3rbst-2026-!",
    "Passw0rt2026!!!!",
    "Das Passwort ist 1",
    "nnamretsuM-akirE-1985",
    "01.01.1985-02.02",
    "one two three four",
    "red-blue-green-yellow",
]
GOOD = [
    CHOSEN,
    "correct horse battery staple",
    "kX9vTq2mWp4zR",
    "7f-Kd-Lq-93-xu",
    "löwe teppich quark achtzehn",
    "löwe teppich quark achtzehn 7",
    "hQ7-vkTzm2xRwPd",
    "x" * 3 + "Q7mz!Tr4vB" * 20,
]


@pytest.mark.parametrize("password", GUESSED)
def test_what_is_guessed_early_is_refused(password):
    with pytest.raises(ValidationError):
        validate_password(password, PERSON)


def test_few_of_those_that_a_generator_makes_are_refused():
    """Random letters may look like a word with a number: of 500, at most a tenth (expected 4 %)."""
    random = Random(5)
    refused = 0
    for _ in range(500):
        try:
            validate_password("".join(random.choices(ascii_letters + digits, k=16)), PERSON)
        except ValidationError:
            refused += 1
    assert refused <= 50


@pytest.mark.parametrize("password", GOOD)
def test_what_is_not_is_taken(password):
    validate_password(password, PERSON)


def test_a_short_one_is_refused_in_words_of_the_portal_which_every_language_of_it_has():
    with pytest.raises(ValidationError, match="It needs 12 characters or more"):
        validate_password("kwqzv-93")


def test_the_refusal_says_what_to_do():
    with pytest.raises(ValidationError, match="Take four words"):
        validate_password("Krankenhaus2026", PERSON)


@pytest.fixture
def first(db) -> Client:
    """The curator of a first start, signed in with the password that was printed."""
    passwords = demonstration.create_accounts({Role.ADMINISTRATOR: "chief", Role.CURATOR: "first"})
    client = Client()
    client.post(reverse("accounts:sign_in"), {"username": "first", "password": passwords["first"]})
    client.old = passwords["first"]
    return client


def change(client, new=CHOSEN):
    form = {"old_password": client.old, "new_password1": new, "new_password2": new}
    return client.post(reverse("accounts:password_change"), form)


@pytest.mark.parametrize(
    "address", ["/", "/datasets/", "/published/", "/guide/", "/account/sessions/", "/no/such/"]
)
def test_before_the_first_password_is_replaced_no_page_opens(first, address):
    assert first.get(address).url == reverse("accounts:password_change")
    assert first.post(address).url == reverse("accounts:password_change")


def test_the_administrators_room_does_not_open_either(db):
    password = demonstration.create_accounts({Role.ADMINISTRATOR: "chief"})["chief"]
    client = Client()
    client.post(reverse("admin:login"), {"username": "chief", "password": password})
    assert client.get(reverse("admin:index")).url == reverse("accounts:password_change")


def test_once_it_is_replaced_everything_opens(first):
    assert "only you know" in first.get(reverse("accounts:password_change")).text
    assert change(first).url == reverse("accounts:password_changed")
    assert first.get("/datasets/").status_code == 200


def test_the_same_password_again_is_no_new_one(first):
    assert "This is the password that you have" in change(first, first.old).text
    assert first.get("/datasets/").status_code == 302


def test_a_superuser_of_the_console_replaces_the_password_too(db):
    person = User.objects.create_superuser("chief", "chief@example.org", CHOSEN)
    assert person.must_change_password and person.is_administrator


def test_whoever_signs_out_instead_may(first):
    first.post(reverse("accounts:sign_out"))
    assert first.get("/published/").status_code == 200


def test_passwords_are_stored_by_a_slow_digest_of_the_current_kind():
    """The suite has a fast one in its place; the portal names none, so it has Django's."""
    named = ast.parse(Path(portal.__file__).read_text())
    assert not any(isinstance(node, ast.Name) and node.id == "PASSWORD_HASHERS" for node in ast.walk(named))
    assert global_settings.PASSWORD_HASHERS[0].endswith(".PBKDF2PasswordHasher")
    assert PBKDF2PasswordHasher.digest is hashlib.sha256 and PBKDF2PasswordHasher.iterations >= 600_000


LONG = "  Seven Lemons äöü 雪 " + "xq" * 30 + " "


def test_a_long_password_of_any_signs_is_taken_as_it_was_typed(client, curator):
    client.force_login(curator)
    form = {"old_password": PASSWORD, "new_password1": LONG, "new_password2": LONG}
    assert client.post(reverse("accounts:password_change"), form).status_code == 302
    curator.refresh_from_db()
    assert len(LONG) > 64 and curator.check_password(LONG)
    assert not any(curator.check_password(other) for other in (LONG.strip(), LONG.lower(), LONG[:72]))


@pytest.mark.django_db
def test_fields_of_passwords_hide_them_and_let_managers_fill_them_in(client):
    page = client.get(reverse("accounts:sign_in")).text
    assert re.search(r'<input type="password"[^>]*autocomplete="current-password"', page)
    assert "onpaste" not in page and "maxlength" not in re.findall(r'<input type="password"[^>]*>', page)[0]


def test_what_a_password_needs_is_on_the_page_once_where_one_is_refused(client, curator) -> None:
    typed = {"old_password": PASSWORD, "new_password1": "Summer2024!!", "new_password2": "Summer2024!!"}
    client.force_login(curator)
    page = client.post(reverse("accounts:password_change"), typed).content.decode()
    assert "Others would guess this too soon" in page
    assert page.count("Take four words that have nothing to do with each other") == 1
