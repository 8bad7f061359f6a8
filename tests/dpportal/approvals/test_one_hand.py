"""Nobody is two people: by an account that they made, by a token, or by a connection."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.contrib import admin
from django.test import RequestFactory
from django.urls import reverse

from dpportal.accounts import people
from dpportal.accounts.models import Role, User, created_on_server
from dpportal.accounts.provider import arrivals
from dpportal.accounts.provider.client import ProviderError
from dpportal.approvals import services
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalError, ApprovalQuestion
from dpportal.platform.identity_provider import IdentityProvider
from dpportal.platform.two_people import SPENDS
from dpportal.tables.connections.admin import ConnectionAdmin
from dpportal.tables.connections.models import Connection, SharedTable
from tests.dpportal import building
from tests.dpportal.api.calling import Program
from tests.dpportal.approvals.conftest import answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(administrator) -> Approval:
    services.ask(ApprovalQuestion(SPENDS, uuid4(), "Spend ε 1.", "/", {}), administrator)
    return Approval.objects.get()


@pytest.mark.parametrize("action", people.IN_HAND)
def test_an_account_that_the_asker_had_in_hand_does_not_answer(asked, administrator, action):
    puppet = User.objects.create_user("puppet", role=Role.ADMINISTRATOR)
    people.note(puppet, administrator, action)
    with pytest.raises(ApprovalError, match="less than 30 days ago"):
        services.refuse(asked, puppet, "No.")


def test_nor_does_one_that_an_account_in_hand_had_in_hand(asked, administrator):
    first, puppet = (User.objects.create_user(name, role=Role.ADMINISTRATOR) for name in ("first", "puppet"))
    people.note(first, administrator, "made the account")
    people.note(puppet, first, people.LINK_SHOWN)
    with pytest.raises(ApprovalError, match="Somebody else made this account"):
        services.approve(asked, puppet)


@pytest.mark.parametrize("through", ["", "helper"])
def test_nobody_answers_what_an_account_in_their_hand_asked(administrator, curator, through):
    maker = administrator
    if through:
        maker = User.objects.create_user(through, role=Role.ADMINISTRATOR)
        people.note(maker, administrator, "made the account")
    people.note(curator, maker, people.LINK_SHOWN)
    asked = services.ask(ApprovalQuestion(SPENDS, uuid4(), "Spend ε 1.", "/", {}), curator)
    with pytest.raises(ApprovalError, match="changed the account that asked"):
        services.approve(asked, administrator)
    other = User.objects.create_user("other", role=Role.ADMINISTRATOR)
    people.note(other, other, "changed the account", "display_name: – → O")
    services.refuse(asked, other, "No.")


def test_an_account_that_just_arrived_by_the_institution_does_not_answer(asked):
    """It can be the second account of whoever asked."""
    newcomer = User(username="newcomer", role=Role.ADMINISTRATOR)
    people.create_from_provider(newcomer)
    with pytest.raises(ApprovalError, match="arrived or got its role by your institution’s sign-in"):
        services.refuse(asked, newcomer, "No.")


INSTITUTION = IdentityProvider(
    *("https://institution.example", "portal", "secret", "Institution", "openid", "groups"),
    (
        (Role.ADMINISTRATOR, frozenset({"administrators"})),
        (Role.CURATOR, frozenset({"curators"})),
        (Role.ANALYST, frozenset({"staff"})),
    ),
)


def signs_in(*groups: str) -> User:
    claims = {"sub": "1", "preferred_username": "mallory.private", "groups": [*groups]}
    return arrivals.person_of(claims, INSTITUTION)


@pytest.mark.parametrize(
    "way", [["administrators"], ["curators", "administrators"]], ids=["at once", "by steps"]
)
def test_an_old_account_that_the_institution_makes_an_administrator_answers_thirty_days_later(asked, way):
    """Nobody had to notice it before: as an analyst it could answer nothing."""
    assert signs_in("staff").role == Role.ANALYST
    for group in way:
        building.age_record(days=60)
        person = signs_in(group)
    assert person.role == Role.ADMINISTRATOR
    with pytest.raises(ApprovalError, match="got its role by your institution’s sign-in, less than 30 days"):
        services.refuse(asked, person, "No.")
    building.age_record(days=29)
    signs_in("administrators")  # as every day
    with pytest.raises(ApprovalError, match="less than 30 days"):
        services.refuse(asked, person, "No.")
    building.age_record(days=2)
    services.refuse(asked, person, "No.")


def test_an_administrator_whom_the_institution_takes_the_role_for_a_while_waits_anew(asked):
    signs_in("administrators")
    building.age_record(days=60)
    with pytest.raises(ProviderError):
        signs_in("guests")
    person = signs_in("administrators")
    with pytest.raises(ApprovalError, match="got its role by your institution’s sign-in"):
        services.approve(asked, person)


@pytest.mark.parametrize("more, answers_then", [({}, True), ({"email": "mine@example.org"}, False)])
def test_a_display_name_that_another_changed_puts_no_account_in_hand(
    asked, administrator, more, answers_then
):
    """And whoever gave one may be answered by its person; with an address it is another matter."""
    other = User.objects.create_user("other", role=Role.ADMINISTRATOR)
    changed = User.objects.get(pk=other.pk)
    for field, value in {"display_name": "Dr Other", **more}.items():
        setattr(changed, field, value)
    people.save(changed, administrator, {"display_name", *more})
    if answers_then:
        services.refuse(asked, other, "No.")
    else:
        with pytest.raises(ApprovalError, match="less than 30 days ago"):
            services.refuse(asked, other, "No.")


def test_an_account_that_was_made_at_the_server_answers(asked):
    chief = User.objects.create_user("chief", role=Role.ADMINISTRATOR)
    created_on_server.send(User, person=chief)
    services.refuse(asked, chief, "No.")


def test_after_thirty_days_the_account_answers(asked, administrator, monkeypatch):
    late = User.objects.create_user("late", role=Role.ADMINISTRATOR)
    people.note(late, administrator, "made the account")
    monkeypatch.setattr(services, "IN_HAND_DAYS", 0)
    services.refuse(asked, late, "No.")


def test_an_administrator_made_on_a_page_is_no_second_one(client, asked, administrator):
    """Alone: makes the account, opens its link, chooses a password, answers."""
    client.force_login(administrator)
    added = {"username": "second", "email": "", "role": Role.ADMINISTRATOR}
    client.post(reverse("admin:accounts_user_add"), added)
    made = User.objects.get(username="second")
    client.post(reverse("admin:accounts_user_link", args=[made.pk]))
    assert "less than 30 days ago" in answers(made, asked).text
    asked.refresh_from_db()
    assert asked.is_waiting


def test_another_administrator_does(asked, administrator):
    other = User.objects.create_user("other", role=Role.ADMINISTRATOR)
    services.refuse(asked, other, "No.")
    asked.refresh_from_db()
    assert asked.answered_by == other


@pytest.mark.slow
def test_a_token_asks_for_no_second_person(dataset, two_people):
    """What was approved would be spent without the token, and so without its limit."""
    draft = building.complete_draft(dataset, "0.3")
    program = Program(dataset.owner, limit="0.01")
    address, plan = f"/releases/{draft.pk}/spend", program.said("get", f"/releases/{draft.pk}/plan")
    said = program.said("post", address, {"reviewed": plan["reviewed"], "agreed": True}, 409)
    assert "second person" in said["detail"]
    assert said["page"] == "http://testserver" + reverse("releases:review", args=[draft.pk])
    said = program.said("post", address, {"reviewed": "x", "agreed": True}, 409)
    assert "changed since you reviewed it" in said["detail"] and "page" not in said
    assert not Approval.objects.exists()


@pytest.mark.slow
def test_a_connection_leads_offered_tables_nowhere_else(administrator, two_people):
    connection = Connection.objects.create(
        name="Register",
        kind="postgresql",
        host="db",
        port=5432,
        database="d",
        user="u",
        credential="register",
    )
    request = RequestFactory().get("/")
    request.user = administrator
    pages = ConnectionAdmin(Connection, admin.site)
    assert pages.get_readonly_fields(request, connection) == ()
    SharedTable.objects.bulk_create([SharedTable(connection=connection, title="T", schema="s", table="t")])
    assert {"host", "port", "database"} <= set(pages.get_readonly_fields(request, connection))
