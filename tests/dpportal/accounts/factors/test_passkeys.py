"""Passkeys: a device in software signs in, alone or after the password; every altered answer is refused."""

import json

import pytest
from django.urls import reverse

from dpportal.accounts.models import AuditEntry, Passkey
from dpportal.accounts.sign_ins import How
from tests.dpportal.accounts.device import Device


def options(desk, name: str) -> dict:
    return desk.post(reverse(f"accounts:{name}")).json()


def adds(desk, device: Device, name: str = "My phone"):
    answer = device.makes(options(desk, "passkey_options"))
    return desk.post(reverse("accounts:add_passkey"), {"name": name, "answer": answer}, follow=True)


def signs_in(desk, device: Device, **more):
    answer = device.signs(options(desk, "passkey_sign_in_options"))
    return sends(desk, answer, **more)


def sends(desk, answer: str, **more):
    return desk.post(reverse("accounts:passkey_sign_in"), {"answer": answer, **more}, follow=True)


@pytest.fixture
def device(desk, curator) -> Device:
    """The curator's."""
    other, device = type(desk)(), Device()
    other.force_login(curator)
    assert "Recovery codes" in adds(other, device).text
    return device


def test_a_passkey_signs_in_without_a_password(desk, curator, device):
    assert signs_in(desk, device, next="/datasets/new/").request["PATH_INFO"] == "/datasets/new/"
    assert desk.session["how"] == How.PASSKEY
    last = AuditEntry.objects.filter(action="signed in").latest("pk")
    assert (last.by, last.detail) == (curator, "from 127.0.0.1, by passkey")
    assert desk.session.get_expiry_age() > 3000
    assert Passkey.objects.get().sign_count == 1


def test_or_after_the_password_and_then_a_security_key_needs_no_pin(desk, curator, device):
    device.verifies = False
    assert desk.types_password(following="/datasets/new/").url == reverse("accounts:second_step")
    assert signs_in(desk, device).request["PATH_INFO"] == "/datasets/new/"
    assert desk.session["how"] == How.KEY


def test_alone_it_must_have_asked_for_a_pin_or_a_finger(desk, curator, device):
    device.verifies = False
    assert "was not accepted" in signs_in(desk, device).text
    assert not desk.is_in


def test_an_answer_counts_once_and_for_the_browser_that_was_asked(desk, curator, device):
    asked = options(desk, "passkey_sign_in_options")
    answer = device.signs(asked)
    other = type(desk)()
    assert "took too long" in sends(other, answer).text
    options(other, "passkey_sign_in_options")
    assert "was not accepted" in sends(other, answer).text
    sends(desk, answer)
    assert desk.is_in
    desk.post(reverse("accounts:sign_out"))
    assert "took too long" in sends(desk, answer).text


@pytest.mark.parametrize("fault", ["origin", "key", "count", "portal"])
def test_what_another_page_key_or_copy_signed_is_refused(desk, curator, device, fault):
    asked = options(desk, "passkey_sign_in_options")
    if fault == "origin":
        device.origin = "http://localhost.example"
    if fault == "key":
        device.key = Device().key
    if fault == "count":
        Passkey.objects.update(sign_count=7)
    if fault == "portal":
        asked["rpId"] = "portal.example"
    assert "was not accepted" in sends(desk, device.signs(asked)).text
    assert not desk.is_in


@pytest.mark.parametrize(
    "answer", ["", "[]", "{}", "nonsense", '{"id": 3}', "[" * 30_000, '{"id": null, "response": 1}']
)
def test_nonsense_gets_a_sentence(desk, curator, device, answer):
    options(desk, "passkey_sign_in_options")
    assert "does not know this passkey" in sends(desk, answer).text


def test_a_known_name_with_nonsense_gets_a_sentence_too(desk, curator, device):
    options(desk, "passkey_sign_in_options")
    parsed = json.loads(device.signs({"rpId": "localhost", "challenge": "AAAA"}))
    for broken in ({**parsed, "response": 1}, {**parsed, "rawId": "%"}, {"id": parsed["id"]}):
        options(desk, "passkey_sign_in_options")
        assert "was not accepted" in sends(desk, json.dumps(broken)).text


def test_another_persons_passkey_is_no_second_step(desk, curator, other_curator, device):
    other, theirs = type(desk)(), Device()
    other.force_login(other_curator)
    adds(other, theirs)
    desk.types_password()
    assert "does not know this passkey" in signs_in(desk, theirs).text
    assert not desk.is_in
    assert AuditEntry.objects.filter(by=curator, action="failed the second step").count() == 1


def test_a_device_of_one_account_signs_nobody_in_to_another(desk, curator, other_curator, device):
    """It names the other's passkey, or answers with what made its own, or under the other's name."""
    own, theirs = type(desk)(), Device()
    own.force_login(other_curator)
    adds(own, theirs)
    theirs.credential = device.credential
    assert "was not accepted" in signs_in(desk, theirs).text
    asked = options(desk, "passkey_sign_in_options")
    made = device.makes({"rp": {"id": asked["rpId"]}, "challenge": asked["challenge"]})
    assert "was not accepted" in sends(desk, made).text
    named = json.loads(device.signs(options(desk, "passkey_sign_in_options")))
    named["response"]["userHandle"] = "b3RoZXI"
    named["id"] = named["rawId"] = Passkey.objects.get(person=other_curator).credential
    assert "was not accepted" in sends(desk, json.dumps(named)).text
    assert not desk.is_in


def test_whoever_is_switched_off_stays_outside(desk, curator, device):
    curator.is_active = False
    curator.save()
    assert "switched off" in signs_in(desk, device).text
    assert not desk.is_in


def test_a_device_is_added_once(desk, curator, other_curator, device):
    other = type(desk)()
    other.force_login(other_curator)
    assert "was not accepted" in adds(other, device).text
    assert Passkey.objects.get().person == curator


def test_it_is_removed_by_its_person_alone(desk, curator, other_curator, device):
    other = type(desk)()
    other.force_login(other_curator)
    which = {"which": Passkey.objects.get().pk}
    other.post(reverse("accounts:remove_factor"), which)
    assert Passkey.objects.exists()
    signs_in(desk, device)
    desk.post(reverse("accounts:remove_factor"), which)
    assert not Passkey.objects.exists()
    acts = set(AuditEntry.objects.filter(by=curator).values_list("action", flat=True))
    assert {"added a passkey", "removed a passkey"} <= acts


def test_where_browsers_have_none_the_page_says_what_to_do(client, curator):
    client.force_login(curator)
    page = client.get(reverse("accounts:factors"), HTTP_HOST="127.0.0.1:8000").text
    assert "open it as “localhost”" in page.replace("\n", " ") and "data-passkey" not in page
    assert "data-passkey" not in client.get("/account/sign-in/", HTTP_HOST="127.0.0.1").text
