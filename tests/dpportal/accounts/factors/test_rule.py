"""Administrators may require a second factor by role; people without one are led to it, wherever they are signed in."""

import pytest
from django.urls import reverse

from dpportal.accounts.factors.overview import remove_all
from dpportal.accounts.models import AuditEntry, Role, SecondFactorRule, User

RULE = "accounts:second_factor_rule"


@pytest.fixture
def required(desk, administrator):
    chief = type(desk)()
    chief.force_login(administrator)
    answer = chief.post(reverse(RULE), {"roles": ["curator"]}, follow=True)
    assert "Now needed by: Curator." in answer.text
    return chief


def test_at_the_next_sign_in_nothing_opens_before_one_is_set_up(desk, curator, required):
    desk.types_password()
    for address in ("/", "/datasets/", "/published/", "/account/sessions/", "/no/such/"):
        assert desk.get(address).url == reverse("accounts:factors")
    assert "Your role needs a second factor" in desk.get(reverse("accounts:factors")).text
    desk.sets_up_app()
    assert desk.get("/datasets/").status_code == 200


def test_a_session_that_was_open_is_led_there_too(desk, curator):
    desk.types_password()
    SecondFactorRule.objects.create(role=Role.CURATOR)
    assert desk.get("/datasets/").url == reverse("accounts:factors")
    desk.sets_up_app()
    assert desk.get("/datasets/").status_code == 200


def test_who_requires_it_of_their_own_role_needs_it_to_take_it_back(desk, administrator):
    desk.force_login(administrator)
    desk.post(reverse(RULE), {"roles": ["administrator"]})
    assert desk.post(reverse(RULE), {"roles": []}).url == reverse("accounts:factors")
    assert SecondFactorRule.objects.filter(role=Role.ADMINISTRATOR).exists()


def test_another_role_and_a_lost_factor_reach_open_sessions(desk, curator, analyst, app, required):
    desk.types_password()
    desk.types_code(app.now())
    remove_all(curator, curator)
    assert desk.get("/datasets/").url == reverse("accounts:factors")
    other = type(desk)()
    other.types_password("analyst")
    User.objects.filter(pk=analyst.pk).update(role=Role.CURATOR)
    assert other.get("/datasets/").url == reverse("accounts:factors")


def test_other_roles_are_asked_for_nothing(desk, analyst, required):
    desk.types_password("analyst")
    assert desk.get("/published/").status_code == 200


def test_who_has_one_is_not_led_anywhere(desk, curator, app, required):
    desk.types_password()
    desk.types_code(app.now())
    assert desk.get("/datasets/").status_code == 200


def test_a_password_that_somebody_saw_is_changed_first(desk, curator, required):
    curator.must_change_password = True
    curator.save()
    desk.types_password()
    assert desk.get("/datasets/").url == reverse("accounts:password_change")
    assert desk.get(reverse("accounts:factors")).url == reverse("accounts:password_change")


def test_the_last_one_stays_where_one_is_needed(desk, curator, app, required):
    desk.types_password()
    desk.types_code(app.now())
    answer = desk.post(reverse("accounts:remove_factor"), {"which": "app"}, follow=True)
    assert "Set up another first" in answer.text and "Remove the app" in answer.text


def test_the_rule_is_recorded_and_can_be_lifted(desk, curator, administrator, required):
    required.post(reverse(RULE), {"roles": []})
    made = AuditEntry.objects.filter(by=administrator, subject="secondfactorrule curator").order_by("pk")
    assert [entry.action for entry in made] == ["required a second factor", "no longer required one"]
    desk.types_password()
    assert desk.get("/datasets/").status_code == 200


@pytest.mark.parametrize("role", ["curator", "analyst"])
@pytest.mark.django_db
def test_only_administrators_see_and_make_the_rule(desk, request, role):
    desk.force_login(request.getfixturevalue(role))
    assert desk.get(reverse(RULE)).status_code == 404
    assert desk.post(reverse(RULE), {"roles": ["curator"]}).status_code == 404
    assert not SecondFactorRule.objects.exists()


def test_without_a_rule_nobody_is_asked_for_anything(desk, curator):
    assert desk.types_password().url == "/"
    assert desk.get("/datasets/").status_code == 200
