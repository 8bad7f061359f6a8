"""Signing in by an OpenID Connect provider that runs: its server has people, keys and clients of its own."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry, PersonSession, ProviderIdentity, Role, SecondFactorRule, User
from dpportal.accounts.provider import client as provider_client
from dpportal.accounts.provider.client import ProviderError, subject_of
from dpportal.accounts.session_store import stored_key
from dpportal.platform.identity_provider import IdentityProvider
from tests.dpportal.accounts.provider.conftest import BACK
from tests.dpportal.api.calling import Program
from tests.dpportal.building import PASSWORD

pytestmark = [
    pytest.mark.slow,
    # Of what the provider's own program uses.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]
CURATOR = {"preferred_username": "erika", "groups": ["staff", "dp curators"]}


def knows(provider: IdentityProvider, subject: str, claims: dict) -> None:
    """Have the provider know a person so."""
    requests.put(f"{provider.issuer}/users/{subject}", json=claims, timeout=30).raise_for_status()


def address_back(there: str, subject: str) -> str:
    """The address that the provider sends a browser to, once somebody signed in there."""
    return requests.post(there, data={"sub": subject}, allow_redirects=False, timeout=30).headers["Location"]


def sign_in(client, subject: str = "e1", following: str = ""):
    there = client.get(reverse("accounts:provider"), {"next": following})
    return client.get(address_back(there.url, subject), follow=True)


def is_in(client) -> bool:
    return "_auth_user_id" in client.session


def test_a_newcomer_with_a_role_gets_an_account_and_is_signed_in(client, provider):
    knows(provider, "e1", {**CURATOR, "email": "erika@example.org", "email_verified": True})
    assert "Sign in by Institute of Health" in client.get(reverse("accounts:sign_in")).text
    answer = sign_in(client, following="/datasets/new/")
    assert answer.request["PATH_INFO"] == "/datasets/new/"
    person = User.objects.get()
    assert (person.username, person.role, person.email) == ("erika", Role.CURATOR, "erika@example.org")
    assert not person.has_usable_password() and not person.must_change_password
    signed_in = AuditEntry.objects.get(action="signed in")
    assert "by the institution's sign-in" in signed_in.detail
    assert PersonSession.objects.get(pk=stored_key(client.session.session_key)).how == "provider"
    assert "the institution&#x27;s sign-in" in client.get(reverse("accounts:sessions")).text
    assert client.session.get_expiry_age() > 3000


def test_the_browser_is_sent_with_state_nonce_and_a_challenge(client, provider):
    asked = parse_qs(urlsplit(client.get(reverse("accounts:provider")).url).query)
    assert asked["code_challenge_method"] == ["S256"] and asked["redirect_uri"] == [BACK]
    assert all(len(asked[name][0]) >= 20 for name in ("state", "nonce", "code_challenge"))


def test_the_second_time_it_is_the_same_person_whatever_the_name_is_now(client, provider):
    knows(provider, "e2", CURATOR)
    sign_in(client, "e2")
    knows(provider, "e2", {**CURATOR, "preferred_username": "erika.new", "groups": "dp admins"})
    again = Client()
    sign_in(again, "e2")
    person = User.objects.get()
    assert (person.username, person.role, person.is_staff) == ("erika", Role.ADMINISTRATOR, True)
    change = AuditEntry.objects.get(action="got another role")
    assert change.detail.endswith("curator → administrator") and person.unseen_changes


@pytest.mark.parametrize("groups", [[], ["staff"], None, "DP CURATORS"])
def test_without_a_role_there_is_no_account(client, provider, groups):
    knows(provider, "n1", {"preferred_username": "nobody", "groups": groups})
    assert "gives you no role" in sign_in(client, "n1").text
    assert not User.objects.exists() and not is_in(client)


@pytest.mark.parametrize("groups", [{"dp admins": True}, 7, True, [["dp admins"]], [{"dp admins": 1}]])
def test_a_claim_that_is_no_text_gives_no_role(client, provider, groups):
    knows(provider, "n2", {"preferred_username": "nobody", "groups": groups})
    assert "gives you no role" in sign_in(client, "n2").text
    assert not User.objects.exists() and not is_in(client)


@pytest.mark.parametrize(
    "name", ["CURATOR", "\uff43\uff55\uff52\uff41\uff54\uff4f\uff52", "\u0441urator", "curator\u3164"]
)
def test_a_name_that_people_take_for_another_s_is_refused(client, provider, curator, name):
    """Capitals, wide letters, a letter of another alphabet, and one that nobody sees."""
    knows(provider, "n3", {**CURATOR, "preferred_username": name})
    assert "is no name here" in sign_in(client, "n3").text
    assert User.objects.get() == curator and not is_in(client)


@pytest.mark.parametrize("subject", [None, 7, "", "s\0", "x" * 256, ["e1"]])
def test_without_a_key_of_the_provider_s_nobody_is_known(subject):
    with pytest.raises(ProviderError, match="does not say who you are"):
        subject_of({"sub": subject})


def test_whoever_loses_the_role_is_turned_away_and_signed_out_everywhere(client, provider):
    knows(provider, "e3", CURATOR)
    sign_in(client, "e3")
    program = Program(User.objects.get())
    program.said("get", "/datasets")
    knows(provider, "e3", {**CURATOR, "groups": ["staff"]})
    assert "gives you no role" in sign_in(Client(), "e3").text
    assert program.send("get", "/datasets").status_code == 401
    assert client.get("/datasets/").status_code == 302
    assert AuditEntry.objects.filter(action="was turned away").count() == 1


def test_neither_sides_end_of_a_session_ends_the_others(client, provider, monkeypatch):
    knows(provider, "e6", CURATOR)
    sign_in(client, "e6")
    for address in ("users/e6/revoke-tokens", "oauth2/end_session/confirm"):
        requests.post(f"{provider.issuer}/{address}", timeout=30).raise_for_status()
    assert client.get("/datasets/").status_code == 200
    sent = []
    monkeypatch.setattr(requests.Session, "send", lambda _session, asked, **_how: sent.append(asked.url))
    answer = client.post(reverse("accounts:sign_out"))
    assert not is_in(client) and sent == []
    assert answer.status_code == 302 and urlsplit(answer["Location"]).netloc == ""


def test_an_account_of_the_portal_is_never_taken_over_by_its_name_or_address(client, provider, curator):
    User.objects.update(email="curator@example.org")
    knows(provider, "c1", {**CURATOR, "preferred_username": "curator", "email": "curator@example.org"})
    assert "an account of the portal has it already" in sign_in(client, "c1").text
    assert not is_in(client) and User.objects.get().has_usable_password()
    assert not ProviderIdentity.objects.exists()


def test_an_address_that_the_provider_has_not_verified_is_not_taken(client, provider):
    knows(provider, "e4", {**CURATOR, "email": "someone@example.org"})
    sign_in(client, "e4")
    assert User.objects.get().email == ""


def test_whoever_is_switched_off_stays_outside(client, provider):
    knows(provider, "e5", CURATOR)
    sign_in(client, "e5")
    User.objects.update(is_active=False)
    assert "switched off" in sign_in(Client(), "e5").text


def test_an_answer_is_taken_from_the_browser_that_was_sent_and_once(client, provider):
    knows(provider, "e6", CURATOR)
    back = address_back(client.get(reverse("accounts:provider")).url, "e6")
    other = Client()
    assert "did not work" in other.get(back, follow=True).text and not is_in(other)
    client.get(back)
    assert is_in(client)
    client.post(reverse("accounts:sign_out"))
    assert "did not work" in client.get(back, follow=True).text and not is_in(client)


def test_an_answer_for_another_nonce_is_refused(client, provider):
    knows(provider, "e7", CURATOR)
    there = client.get(reverse("accounts:provider")).url
    asked = parse_qs(urlsplit(there).query)
    other = there.replace(asked["nonce"][0], "another-nonce-of-an-attacker")
    assert "did not work" in client.get(address_back(other, "e7"), follow=True).text
    assert not is_in(client)


@pytest.mark.parametrize("how", ["denied", "made up", "empty"])
def test_a_refusal_or_a_made_up_code_gets_a_sentence(client, provider, how):
    there = client.get(reverse("accounts:provider")).url
    state = parse_qs(urlsplit(there).query)["state"][0]
    sent = {
        "denied": {"error": "access_denied", "state": state},
        "made up": {"code": "x", "state": state},
        "empty": {},
    }
    answer = client.get(reverse("accounts:provider_answer"), sent[how], follow=True)
    assert answer.status_code == 200 and "did not work" in answer.text


@pytest.mark.parametrize("wrong", [{"client_secret": "x" * 20}, {"issuer": "http://127.0.0.1:9"}])
def test_a_wrong_secret_and_a_server_that_is_not_there_get_a_sentence(client, provider, settings, wrong):
    settings.IDENTITY_PROVIDER = replace(provider, **wrong)
    knows(provider, "e8", CURATOR)
    there = client.get(reverse("accounts:provider"))
    if "client_secret" in wrong:
        there = client.get(address_back(there.url, "e8"))
    assert "did not work" in client.get(there.url).text and not is_in(client)


def test_a_provider_that_calls_itself_otherwise_is_not_believed(client, provider, settings):
    settings.IDENTITY_PROVIDER = replace(provider, issuer=provider.issuer + "/")
    assert client.get(reverse("accounts:provider")).url == reverse("accounts:sign_in")
    assert provider_client._client.cache_info().currsize == 0


def test_a_rule_of_the_portal_asks_nothing_of_who_signs_in_there(client, provider):
    SecondFactorRule.objects.create(role=Role.CURATOR)
    knows(provider, "e9", CURATOR)
    sign_in(client, "e9")
    assert client.get("/datasets/").status_code == 200


def test_the_sign_in_leads_to_no_other_site(client, provider):
    knows(provider, "e10", CURATOR)
    assert sign_in(client, "e10", "https://evil.example/").request["PATH_INFO"] == "/datasets/"


def test_passwords_go_on_where_there_are_some(client, provider, curator):
    client.post(reverse("accounts:sign_in"), {"username": "curator", "password": PASSWORD})
    assert is_in(client)


@pytest.mark.django_db
def test_without_a_provider_there_is_no_such_page(client):
    assert client.get(reverse("accounts:provider")).status_code == 404
    assert client.get(reverse("accounts:provider_answer")).status_code == 404
    assert "institution" not in client.get(reverse("accounts:sign_in")).text


GIVEN = {"ISSUER": "https://id.example", "CLIENT_ID": "portal", "CLIENT_SECRET": "s", "CURATORS": "a,b c"}


@pytest.mark.parametrize(
    "change", [{"ISSUER": "http://id.example"}, {"CLIENT_ID": ""}, {"CLIENT_SECRET": ""}, {"CURATORS": " , "}]
)
def test_what_cannot_work_is_refused_at_start(change):
    variables = {f"DPPORTAL_OIDC_{name}": value for name, value in {**GIVEN, **change}.items()}
    with pytest.raises(ImproperlyConfigured, match="DPPORTAL_OIDC_"):
        IdentityProvider.of(variables)


def test_the_strongest_role_counts():
    variables = {f"DPPORTAL_OIDC_{name}": value for name, value in {**GIVEN, "ADMINISTRATORS": "top"}.items()}
    provider = IdentityProvider.of(variables)
    roles = [provider.role_of(frozenset(v)) for v in (["b c", "top"], ["b c"], ["c"], [])]
    assert roles == ["administrator", "curator", None, None]
    assert IdentityProvider.of({}) is None
