"""No administrator sets a password; every change of a person is recorded, and told to the person."""

import html
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core import mail
from django.core.management import call_command
from django.test import Client
from django.urls import NoReverseMatch, reverse

from dpportal.accounts import people
from dpportal.accounts.models import AuditEntry, PersonSession, Role, User
from dpportal.accounts.session_store import stored_key
from tests.dpportal.building import PASSWORD, deliver_mail

CHOSEN = "seven quiet lemons dancing"
FORM = {
    "username": "curator",
    "first_name": "",
    "last_name": "",
    "display_name": "",
    "email": "",
    "is_active": "on",
}


@pytest.fixture
def office(administrator) -> Client:
    client = Client()
    client.force_login(administrator)
    return client


def save(office, person, **changes):
    address = reverse("admin:accounts_user_change", args=[person.pk])
    return office.post(address, {**FORM, "role": person.role, **changes})


def lines(person) -> list[tuple[str, str, str]]:
    found = AuditEntry.objects.filter(subject=f"user {person.pk}").exclude(action="signed in").order_by("pk")
    return list(found.values_list("by__username", "action", "detail"))


def shown_link(office, person) -> str:
    page = office.post(reverse("admin:accounts_user_link", args=[person.pk])).text
    [path] = re.findall(r"http://testserver(/account/password/choose/[^<\s]+)", html.unescape(page))
    return path


def use(client, path, password=CHOSEN):
    form = client.get(path, follow=True).request["PATH_INFO"]
    return client.post(form, {"new_password1": password, "new_password2": password}, follow=True)


def test_an_administrator_cannot_set_a_password(office, curator):
    before = curator.password
    save(office, curator, password=CHOSEN, password1=CHOSEN, password2=CHOSEN, usable_password="true")
    office.post(f"/admin/accounts/user/{curator.pk}/password/", {"password1": CHOSEN, "password2": CHOSEN})
    curator.refresh_from_db()
    assert curator.password == before
    with pytest.raises(NoReverseMatch):
        reverse("admin:auth_user_password_change", args=[curator.pk])


def test_the_list_of_people_tells_no_stored_password(office, curator):
    answer = office.get(reverse("admin:accounts_user_changelist"), {"password__startswith": "md5"})
    assert answer.status_code == 400


def test_the_list_of_people_tells_no_key_of_a_session(office, curator):
    """Letter by letter, who filters by it would learn what opens the portal as that person."""
    desk = Client()
    desk.force_login(curator)
    begins = {"sessions__session_key__startswith": stored_key(desk.session.session_key)[:1]}
    assert office.get(reverse("admin:accounts_user_changelist"), begins).status_code == 400


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"email": "new@example.org"}, "email: old@example.org → new@example.org"),
        ({"role": "analyst", "email": "old@example.org"}, "role: curator → analyst"),
        ({"is_active": "", "email": "old@example.org"}, "is_active: True → –"),
        ({"display_name": "Office", "email": "old@example.org"}, "display_name: – → Office"),
        ({"username": "other", "email": "old@example.org"}, "username: curator → other"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_a_change_by_an_administrator_is_recorded_and_mailed(office, curator, settings, changes, detail):
    settings.EMAIL_URL = "smtp://localhost"
    User.objects.update(email="old@example.org")
    save(office, curator, **changes)
    action = "changed the display name" if "display_name" in changes else "changed the account"
    assert lines(curator) == [("administrator", action, detail)]
    deliver_mail()
    reached = {"old@example.org", changes.get("email", "old@example.org")}
    assert {message.to[0] for message in mail.outbox} == reached
    assert all(detail in message.body and "administrator" in message.body for message in mail.outbox)


def test_a_form_writes_back_nothing_that_somebody_else_changed_meanwhile(client, curator, monkeypatch):
    """Or whoever sends their name again and again keeps a role that is being taken away."""
    client.force_login(curator)
    honest = people.save

    def demoted(person, *arguments):
        User.objects.filter(pk=curator.pk).update(role=Role.ANALYST, is_active=False)
        honest(person, *arguments)

    monkeypatch.setattr(people, "save", demoted)
    client.post(reverse("accounts:display_name"), {"display_name": "Somebody"})
    curator.refresh_from_db()
    assert (curator.display_name, curator.role, curator.is_active) == ("Somebody", Role.ANALYST, False)
    assert lines(curator) == [("curator", "changed the display name", "display_name: – → Somebody")]


def test_nothing_changed_is_nothing_recorded(office, curator):
    save(office, curator)
    assert lines(curator) == []


@pytest.mark.slow
def test_a_link_that_an_administrator_used_is_seen_by_its_person(client, office, curator):
    """An administrator takes the account over by a link, clears the notice, and the person hears of it all the same."""
    client.force_login(curator)
    thief = Client()
    assert "Password changed" in use(thief, shown_link(office, curator)).text
    assert client.get(reverse("datasets:list")).status_code == 302
    assert not PersonSession.objects.filter(person=curator).exists()
    thief.post(reverse("accounts:sign_in"), {"username": "curator", "password": CHOSEN})
    assert "See what happened" in thief.get(reverse("datasets:list")).text
    thief.get(reverse("accounts:sessions"))
    assert "See what happened" not in thief.get(reverse("datasets:list")).text

    use(client, shown_link(office, curator), "another four quiet words")
    client.post(reverse("accounts:sign_in"), {"username": "curator", "password": "another four quiet words"})
    assert "See what happened" in client.get(reverse("datasets:list")).text
    page = client.get(reverse("accounts:sessions")).text
    assert page.count("was shown a password link") == 2
    assert page.count("chose a new password: by a link that an administrator was shown") == 2


def test_the_link_works_once_and_is_in_no_record(client, office, curator):
    path = shown_link(office, curator)
    use(client, path)
    assert "This link was used before" in client.get(path, follow=True).text
    token = path.rstrip("/").rpartition("/")[2]
    assert not [entry for entry in AuditEntry.objects.values() if token in repr(entry)]


def test_where_mail_is_set_the_administrator_sees_no_link(office, curator, settings):
    settings.EMAIL_URL = "smtp://localhost"
    User.objects.filter(pk=curator.pk).update(email="curator@example.org")
    page = office.post(reverse("admin:accounts_user_link", args=[curator.pk]), follow=True).text
    assert "/account/password/" not in page.partition("content-main")[2]
    deliver_mail()
    assert sorted("/password/replace/" in message.body for message in mail.outbox) == [False, True]
    assert {message.to[0] for message in mail.outbox} == {"curator@example.org"}
    assert lines(curator) == [("administrator", "had a password link sent", "")]


def test_looking_at_the_page_makes_no_link(office, curator):
    assert "/password/choose/" not in office.get(reverse("admin:accounts_user_link", args=[curator.pk])).text
    assert lines(curator) == []


@pytest.mark.parametrize("role", [Role.CURATOR, Role.ANALYST])
def test_only_administrators_make_links(client, db, administrator, role):
    client.force_login(User.objects.create_user("someone", password="x", role=role))
    assert client.post(reverse("admin:accounts_user_link", args=[administrator.pk])).status_code == 302
    assert lines(administrator) == []


def test_a_new_person_gets_a_link_and_no_password_that_anybody_knows(client, office):
    form = {"username": "new", "email": "", "role": "curator", "password1": CHOSEN, "password2": CHOSEN}
    answer = office.post(reverse("admin:accounts_user_add"), form)
    person = User.objects.get(username="new")
    assert answer.url == reverse("admin:accounts_user_link", args=[person.pk])
    assert not person.check_password(CHOSEN)
    use(client, shown_link(office, person))
    person.refresh_from_db()
    assert person.check_password(CHOSEN)


def test_people_are_switched_off_not_deleted(office, curator):
    address = reverse("admin:accounts_user_delete", args=[curator.pk])
    assert office.post(address, {"post": "yes"}).status_code == 403


def test_an_unlocking_is_told_too(office, curator):
    chosen = {"action": "unlock", "_selected_action": [curator.pk]}
    office.post(reverse("admin:accounts_user_changelist"), chosen)
    assert lines(curator) == [("administrator", "unlocked signing in", "")]
    curator.refresh_from_db()
    assert curator.unseen_changes


def test_what_people_do_themselves_is_recorded_and_rings_no_alarm(client, curator):
    client.force_login(curator)
    client.post(reverse("accounts:display_name"), {"display_name": "Office"})
    form = {"old_password": PASSWORD, "new_password1": CHOSEN, "new_password2": CHOSEN}
    client.post(reverse("accounts:password_change"), form)
    assert lines(curator) == [
        ("curator", "changed the display name", "display_name: – → Office"),
        ("curator", "chose a new password", ""),
    ]
    curator.refresh_from_db()
    assert not curator.unseen_changes


def test_the_admins_own_form_for_a_password_is_the_portals(office):
    answer = office.post("/admin/password_change/", {"old_password": PASSWORD})
    assert answer.url == reverse("accounts:password_change")


def test_strangers_push_no_change_out_of_the_list(client, office, curator):
    save(office, curator, display_name="Office")
    for _ in range(60):
        AuditEntry.objects.create(by=curator, action="failed to sign in", subject=f"user {curator.pk}")
    client.force_login(curator)
    assert "display_name: – → Office" in client.get(reverse("accounts:sessions")).text


def test_a_password_from_the_server_s_command_line_is_recorded_and_does_not_stay(
    curator, monkeypatch, capsys
):
    monkeypatch.setattr("getpass.getpass", lambda prompt=None: CHOSEN)
    call_command("changepassword", "curator")
    curator.refresh_from_db()
    assert curator.check_password(CHOSEN) and curator.must_change_password and curator.unseen_changes
    assert lines(curator) == [("curator", "got a password", people.AT_THE_SERVER)]


def test_an_administrator_from_the_server_s_command_line_is_recorded(db, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", CHOSEN)
    call_command("createsuperuser", interactive=False, username="chief", email="")
    chief = User.objects.get(username="chief")
    assert lines(chief) == [("chief", "got an account", f"{people.AT_THE_SERVER}; role: administrator")]


@pytest.mark.parametrize("change", [{"role": Role.CURATOR}, {"is_active": ""}])
def test_the_last_administrator_stays_one(office, administrator, curator, change):
    own = {"username": administrator.username, **change}
    assert "Nobody else is an administrator." in save(office, administrator, **own).text
    administrator.refresh_from_db()
    assert administrator.role == Role.ADMINISTRATOR and administrator.is_active
    save(office, curator, role=Role.ADMINISTRATOR)
    assert save(office, administrator, **own).status_code == 302


def test_the_history_of_a_person_is_the_portal_s_own(office, administrator, curator):
    """Django's log is bound by nothing: whoever has the database alone writes into it what they like."""
    LogEntry.objects.create(
        user=administrator,
        content_type=ContentType.objects.get_for_model(User),
        object_id=str(curator.pk),
        action_flag=2,
        change_message="FORGED",
    )
    page = office.get(reverse("admin:accounts_user_history", args=[curator.pk]), follow=True)
    assert page.request["PATH_INFO"] == reverse("admin:accounts_auditentry_changelist")
    assert "FORGED" not in page.text
    office.post(
        reverse("admin:accounts_user_change", args=[curator.pk]),
        {"username": "curator", "role": "analyst", "is_active": "on"},
    )
    page = office.get(reverse("admin:accounts_user_history", args=[curator.pk]), follow=True)
    assert "changed the account" in page.text
