"""An account of the portal is linked to a person of the provider by its own person, signed in to both."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import AuditEntry, OutgoingMail, PersonSession, ProviderIdentity, Role, User
from dpportal.accounts.recent_sign_in import RECENT_SECONDS
from dpportal.accounts.session_store import BEGAN, stored_key
from tests.dpportal.accounts.provider.test_signing_in import CURATOR, address_back, is_in, knows, sign_in
from tests.dpportal.building import PASSWORD

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::DeprecationWarning")]
SUBJECT = "linked-1"


@pytest.fixture
def desk(client, curator, provider) -> Client:
    """A curator who has signed in with the password, and whom the provider knows as a curator by another name."""
    knows(provider, SUBJECT, {**CURATOR, "preferred_username": "c.urator"})
    client.post(reverse("accounts:sign_in"), {"username": "curator", "password": PASSWORD})
    return client


def link(desk: Client, subject: str = SUBJECT):
    there = desk.post(reverse("accounts:link_provider"))
    return desk.get(address_back(there.url, subject), follow=True)


def unlink(desk: Client):
    return desk.post(reverse("accounts:unlink_provider"), follow=True)


def test_once_linked_the_same_person_signs_in_there(desk, curator, settings):
    settings.EMAIL_URL = "smtp://localhost:9"
    User.objects.update(email="curator@example.org")
    assert "Link the two" in desk.get(reverse("accounts:factors")).text
    before = desk.session.get_expiry_age()
    assert "Linked. You can sign in by your institution" in link(desk).text
    assert desk.session.get_expiry_age() > before - 60
    other = Client()
    sign_in(other, SUBJECT)
    assert other.session["_auth_user_id"] == str(curator.pk) and User.objects.count() == 1
    recorded = AuditEntry.objects.get(action="linked the institution's sign-in")
    assert (recorded.by, recorded.detail) == (curator, "Institute of Health")
    mail = OutgoingMail.objects.get()
    assert mail.to == "curator@example.org" and "linked the institution's sign-in" in mail.text


def test_the_link_is_removed_with_the_sessions_that_began_by_it(desk, curator):
    link(desk)
    other = Client()
    sign_in(other, SUBJECT)
    assert "You sign in with your password from now on" in unlink(desk).text
    assert not ProviderIdentity.objects.exists() and other.get("/datasets/").status_code == 302
    assert PersonSession.objects.get().pk == stored_key(desk.session.session_key)
    assert AuditEntry.objects.filter(action="unlinked the institution's sign-in", by=curator).count() == 1


def test_nobody_is_left_without_a_way_in(client, provider):
    knows(provider, "only-there", CURATOR)
    sign_in(client, "only-there")
    assert "Remove the link" not in client.get(reverse("accounts:factors")).text
    assert "without a password of this portal" in unlink(client).text
    assert ProviderIdentity.objects.count() == 1


def test_an_account_that_is_somebody_elses_there_is_not_linked_twice(desk, provider):
    sign_in(Client(), SUBJECT)
    taken = User.objects.get(username="c.urator")
    assert "somebody else here is linked" in link(desk).text
    assert ProviderIdentity.objects.get().person == taken


def test_a_second_person_of_the_provider_is_refused(desk, provider, curator):
    link(desk)
    knows(provider, "another", {**CURATOR, "preferred_username": "an.other"})
    assert "you are linked to one already" in link(desk, "another").text
    assert ProviderIdentity.objects.get().subject == SUBJECT


@pytest.mark.parametrize("groups, there", [(["dp admins"], "Administrator"), ([], "no role")])
def test_another_role_there_is_refused_before_it_could_change_one_here(desk, provider, groups, there):
    knows(provider, SUBJECT, {**CURATOR, "groups": groups})
    text = link(desk).text
    assert "your role here is “Curator”" in text and f"“{there}”" in text
    assert not ProviderIdentity.objects.exists() and User.objects.get().role == Role.CURATOR


def test_only_who_signed_in_just_now_links_or_unlinks(desk):
    session = desk.session
    session[BEGAN] -= RECENT_SECONDS + 1
    session.save()
    for name in ("accounts:link_provider", "accounts:unlink_provider"):
        assert desk.post(reverse(name)).status_code == 403


def test_nobody_is_linked_who_did_not_ask_for_it_in_this_session(desk, client, provider):
    """An answer for somebody else's browser, and one that comes to a session that asked for none."""
    there = desk.post(reverse("accounts:link_provider")).url
    stranger = Client()
    assert "did not work" in stranger.get(address_back(there, SUBJECT), follow=True).text
    own = Client().get(reverse("accounts:provider")).url
    back = address_back(own, SUBJECT)
    assert "did not work" in desk.get(back, follow=True).text
    assert desk.get(back).url == "/"
    assert not ProviderIdentity.objects.exists()


def test_no_other_sites_link_signs_anybody_in(client, provider):
    begin = reverse("accounts:provider")
    assert client.get(begin, headers={"Sec-Fetch-Site": "cross-site"}).url == reverse("accounts:sign_in")
    assert provider.issuer in client.get(begin, headers={"Sec-Fetch-Site": "same-origin"}).url
    assert not is_in(client)
