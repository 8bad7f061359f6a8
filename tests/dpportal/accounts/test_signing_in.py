"""Signing in and out, and changing a password."""

import pytest
from django.urls import reverse

from tests.dpportal.building import PASSWORD

NEW_PASSWORD = "a much better horse staple"


def sign_in(client, name: str, password: str):
    return client.post(reverse("accounts:sign_in"), {"username": name, "password": password})


def change_password(client, old: str, new: str = NEW_PASSWORD, again: str = NEW_PASSWORD):
    form = {"old_password": old, "new_password1": new, "new_password2": again}
    return client.post(reverse("accounts:password_change"), form)


def test_a_curator_signs_in_and_comes_to_the_datasets(client, curator):
    response = client.post(
        reverse("accounts:sign_in"), {"username": "curator", "password": PASSWORD}, follow=True
    )
    assert response.request["PATH_INFO"] == reverse("datasets:list")


def test_an_administrator_comes_to_the_office(client, administrator):
    sign_in(client, "administrator", PASSWORD)
    assert client.get("/").url == reverse("office")


def test_an_analyst_comes_to_what_is_published(client, analyst):
    sign_in(client, "analyst", PASSWORD)
    assert client.get("/").url == reverse("catalogue")


def test_a_stranger_sees_what_is_published_and_where_to_sign_in(client, db):
    page = client.get("/")
    assert page.status_code == 200
    assert reverse("accounts:sign_in") in page.text


@pytest.mark.parametrize("name, password", [("curator", "wrong"), ("nobody", PASSWORD)])
def test_a_wrong_name_and_a_wrong_password_get_the_same_answer(client, curator, name, password):
    response = sign_in(client, name, password)
    assert "This name and password do not belong together." in response.text
    assert "_auth_user_id" not in client.session


def test_a_switched_off_account_cannot_sign_in(client, curator):
    curator.is_active = False
    curator.save()
    sign_in(client, "curator", PASSWORD)
    assert "_auth_user_id" not in client.session


def test_signing_out_ends_the_session(client, curator):
    client.force_login(curator)
    client.post(reverse("accounts:sign_out"))
    assert "_auth_user_id" not in client.session


def test_a_link_cannot_sign_anyone_out(client, curator):
    client.force_login(curator)
    answer = client.get(reverse("accounts:sign_out"))
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST, OPTIONS")
    assert "This address only takes what a form sends" in answer.text
    assert "_auth_user_id" in client.session


def test_a_changed_password_is_the_one_that_counts(client, curator):
    client.force_login(curator)
    assert change_password(client, PASSWORD).url == reverse("accounts:password_changed")
    curator.refresh_from_db()
    assert curator.check_password(NEW_PASSWORD)


def test_a_password_change_keeps_this_session_and_ends_the_others(client, curator):
    elsewhere = type(client)()
    client.force_login(curator)
    elsewhere.force_login(curator)
    change_password(client, PASSWORD)
    assert client.get(reverse("datasets:list")).status_code == 200
    assert elsewhere.get(reverse("datasets:list")).status_code == 302


@pytest.mark.parametrize(
    "old, new, again",
    [
        ("wrong", NEW_PASSWORD, NEW_PASSWORD),
        (PASSWORD, NEW_PASSWORD, "another"),
        (PASSWORD, "12345678", "12345678"),
        (PASSWORD, "short1!", "short1!"),
    ],
    ids=["old one wrong", "repeated wrongly", "only digits", "too short"],
)
def test_a_refused_password_change_changes_nothing(client, curator, old, new, again):
    client.force_login(curator)
    assert change_password(client, old, new, again).status_code == 200
    curator.refresh_from_db()
    assert curator.check_password(PASSWORD)


@pytest.mark.parametrize("weak", ["12345678", "short1!"])
def test_what_is_wrong_with_a_new_password_is_said_beside_it(client, curator, weak):
    client.force_login(curator)
    assert set(change_password(client, PASSWORD, weak, weak).context["form"].errors) == {"new_password1"}


def test_only_people_who_are_signed_in_change_passwords(client, db):
    address = reverse("accounts:password_change")
    assert client.get(address).url == f"{reverse('accounts:sign_in')}?next={address}"
