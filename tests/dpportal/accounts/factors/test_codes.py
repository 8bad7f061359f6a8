"""Codes of an app and recovery codes: asked for after the password, taken once, counted when wrong."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dpportal.accounts import people
from dpportal.accounts.factors import totp
from dpportal.accounts.models import AuditEntry, AuthenticatorApp, PersonSession, RecoveryCode, User
from dpportal.accounts.session_store import stored_key
from tests.dpportal.building import PASSWORD

CODE = re.compile(r"<code>([A-Z2-7]{4}(?:-[A-Z2-7]{4}){5})</code>")


def acts(person) -> list[str]:
    return list(AuditEntry.objects.filter(by=person).order_by("pk").values_list("action", flat=True))


def test_after_the_password_nobody_is_signed_in_before_the_code_came(desk, curator, app):
    answer = desk.types_password(following="/datasets/new/")
    assert answer.url == reverse("accounts:second_step")
    assert not desk.is_in and desk.get("/datasets/").status_code == 302
    assert "six digits" in desk.get(answer.url).text
    assert desk.types_code(app.now()).url == "/datasets/new/"
    assert desk.get("/datasets/").status_code == 200
    signed_in = AuditEntry.objects.filter(action="signed in").latest("pk")
    assert signed_in.detail == "from 127.0.0.1, by password and code of an app"
    assert PersonSession.objects.get(pk=stored_key(desk.session.session_key)).how == "code"
    assert "password and code of an app" in desk.get(reverse("accounts:sessions")).text


def test_the_session_of_the_first_step_is_not_that_of_the_second(desk, curator, app):
    desk.types_password()
    first = stored_key(desk.session.session_key)
    assert PersonSession.objects.filter(pk=first).exists()
    desk.types_code(app.now())
    assert not PersonSession.objects.filter(pk=first).exists()
    assert "second_step" not in desk.session
    assert desk.session.get_expiry_age() > 3000


def test_a_code_is_taken_once(desk, curator, app):
    code = app.now()
    desk.types_password()
    desk.types_code(code)
    again = type(desk)()
    again.types_password()
    assert "This is no code of now" in again.types_code(code).text
    assert not again.is_in


@pytest.mark.parametrize("seconds, is_taken", [(-30, True), (30, True), (-90, False), (90, False)])
def test_clocks_may_differ_by_half_a_minute(desk, curator, app, seconds, is_taken):
    desk.types_password()
    desk.types_code(app.at(timezone.now() + timedelta(seconds=seconds)))
    assert desk.is_in == is_taken


def test_the_admins_own_address_asks_for_the_code_too(desk, administrator):
    other = type(desk)()
    other.force_login(administrator)
    app, _page = other.sets_up_app()
    form = {"username": "administrator", "password": PASSWORD}
    answer = desk.post(reverse("admin:login") + "?next=/admin/", form)
    assert answer.url == reverse("accounts:second_step") and not desk.is_in
    assert desk.types_code(app.now()).url == "/admin/"


def test_the_admins_own_address_is_none_for_others(desk, curator):
    desk.force_login(curator)
    assert desk.get("/admin/", follow=True).status_code == 404


def test_five_wrong_codes_close_the_door_and_the_person_is_told(desk, curator, app, settings):
    settings.EMAIL_URL = "smtp://localhost"
    User.objects.update(email="curator@example.org")
    desk.types_password()
    answers = [desk.types_code("000000") for _ in range(5)]
    assert [a.status_code for a in answers] == [200] * 4 + [429]
    assert desk.types_code(app.now()).status_code == 429 and not desk.is_in
    assert desk.types_password().status_code == 429
    assert acts(curator)[-5:] == ["failed the second step"] * 4 + ["failed the second step too often"]
    curator.refresh_from_db()
    assert curator.unseen_changes
    assert "second step too often" in str(list(people.mailing.OutgoingMail.objects.values_list("text")))
    assert mail.outbox == []


def test_wrong_codes_of_now_are_not_kept_as_they_were_typed(desk, curator, app):
    from axes.models import AccessAttempt

    desk.types_password()
    desk.types_code("123456")
    assert "123456" not in AccessAttempt.objects.get().post_data


def test_after_a_hundred_wrong_codes_in_however_long_no_code_is_taken_until_the_app_is_set_up_anew(
    desk, curator, app, administrator
):
    AuthenticatorApp.objects.update(wrong_codes=totp.MOST_WRONG - 1)
    desk.types_password()
    desk.types_code("000000")
    desk.types_code(app.now())
    assert not desk.is_in and "typed too many wrong codes" in acts(curator)
    office = type(desk)()
    office.force_login(administrator)
    chosen = {"action": "unlock", "_selected_action": [curator.pk]}
    office.post(reverse("admin:accounts_user_changelist"), chosen)
    desk.types_code(app.now())
    assert desk.is_in


def test_a_right_code_forgets_the_wrong_ones(desk, curator, app):
    AuthenticatorApp.objects.update(wrong_codes=totp.MOST_WRONG - 1)
    desk.types_password()
    desk.types_code(app.now())
    assert desk.is_in and AuthenticatorApp.objects.get().wrong_codes == 0


def test_a_right_password_does_not_clear_the_wrong_codes(desk, curator, app):
    for _ in range(4):
        desk.types_password()
        desk.types_code("000000")
    desk.types_password()
    assert desk.types_code("000000").status_code == 429


def test_the_second_step_waits_ten_minutes_and_no_longer(desk, curator, app):
    desk.types_password()
    session = desk.session
    session["second_step"] = {**session["second_step"], "since": session["second_step"]["since"] - 601}
    session.save()
    assert desk.types_code(app.now()).url == reverse("accounts:sign_in")
    assert not desk.is_in


@pytest.mark.parametrize("change", ["password", "is_active"])
def test_whoever_was_switched_off_or_has_another_password_meanwhile_starts_again(desk, curator, app, change):
    desk.types_password()
    curator.set_password("seven quiet lemons dancing") if change == "password" else None
    curator.is_active = change != "is_active"
    curator.save()
    desk.types_code(app.now())
    assert not desk.is_in


def test_recovery_codes_come_with_the_first_app_and_each_signs_in_once(desk, curator):
    other = type(desk)()
    other.force_login(curator)
    _app, page = other.sets_up_app()
    codes = CODE.findall(page)
    assert len(set(codes)) == 8
    desk.types_password()
    desk.types_code(codes[3].lower().replace("-", " "))
    assert desk.is_in
    curator.refresh_from_db()
    assert curator.unseen_changes and "signed in with a recovery code" in acts(curator)
    again = type(desk)()
    again.types_password()
    again.types_code(codes[3])
    assert not again.is_in
    assert RecoveryCode.objects.count() == 7
    assert "7 codes are left" in desk.get(reverse("accounts:factors")).text


def test_new_codes_replace_the_former(desk, curator):
    desk.force_login(curator)
    _app, page = desk.sets_up_app()
    desk.post(reverse("accounts:new_codes"))
    other = type(desk)()
    other.types_password()
    other.types_code(CODE.findall(page)[0])
    assert not other.is_in


def test_a_recovery_code_is_its_own_persons_alone(desk, curator, other_curator, app):
    other = type(desk)()
    other.force_login(other_curator)
    _app, page = other.sets_up_app()
    desk.types_password()
    desk.types_code(CODE.findall(page)[0])
    assert not desk.is_in


def test_without_a_code_of_it_a_new_app_counts_for_nothing(desk, curator, app):
    desk.signs_in(app)
    desk.post(reverse("accounts:begin_app"))
    page = desk.get(reverse("accounts:confirm_app")).text
    assert "data:image/svg+xml" in page and AuthenticatorApp.objects.get().unconfirmed in page
    assert "This is no code of now" in desk.post(reverse("accounts:confirm_app"), {"code": app.now()}).text
    other = type(desk)()
    AuthenticatorApp.objects.update(last_step=0)
    other.signs_in(app)
    assert other.is_in


def test_the_database_has_no_secret_of_an_app_in_the_clear(curator, app):
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret FROM accounts_authenticatorapp")
        [(stored,)] = cursor.fetchall()
    assert app.secret.encode() not in bytes(stored)


def test_what_was_set_up_can_be_removed_and_is_recorded(desk, curator, app):
    desk.signs_in(app)
    desk.post(reverse("accounts:remove_factor"), {"which": "app"})
    other = type(desk)()
    other.types_password()
    assert other.is_in
    assert {"set up an authenticator app", "made recovery codes", "removed the authenticator app"} <= set(
        acts(curator)
    )


@pytest.mark.parametrize(
    "name", ["begin_app", "new_codes", "remove_factor", "add_passkey", "passkey_options"]
)
def test_a_browser_that_was_left_open_changes_nothing(desk, curator, app, name):
    desk.signs_in(app)
    session = desk.session
    session["began_at"] -= 901
    session.save()
    before = AuthenticatorApp.objects.get().secret, RecoveryCode.objects.count()
    answer = desk.post(reverse(f"accounts:{name}"), {"which": "app"})
    assert answer.status_code == 403 and "sign in again" in answer.text
    assert before == (AuthenticatorApp.objects.get().secret, RecoveryCode.objects.count())
    out = desk.post(reverse("accounts:sign_out"), {"next": "/account/sign-in/?next=/account/second-factors/"})
    assert out.url == "/account/sign-in/?next=/account/second-factors/"


def test_an_administrator_removes_what_was_lost_and_the_person_is_told(desk, curator, administrator, app):
    desk.force_login(administrator)
    chosen = {"action": "remove_second_factors", "_selected_action": [curator.pk, administrator.pk]}
    assert (
        "Removed for: curator."
        in desk.post(reverse("admin:accounts_user_changelist"), chosen, follow=True).text
    )
    curator.refresh_from_db()
    assert curator.unseen_changes and "removed all second factors" in acts(administrator)
    other = Client()
    other.post(reverse("accounts:sign_in"), {"username": "curator", "password": PASSWORD})
    assert "_auth_user_id" in other.session


def test_whoever_may_run_commands_at_the_server_removes_them_there(curator, app, capsys):
    call_command("remove_second_factors", "curator")
    assert capsys.readouterr().out == "Removed.\n"
    assert not AuthenticatorApp.objects.exists() and not RecoveryCode.objects.exists()
    last = AuditEntry.objects.filter(action="removed all second factors").get()
    assert "command line" in last.detail
