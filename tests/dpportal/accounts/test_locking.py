"""Too many wrong passwords close the door for a while, and what happens at the door is written down."""

import json
from datetime import timedelta
from ipaddress import ip_network

import pytest
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.db import connection
from django.db.models import F
from django.test import Client, override_settings
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dpportal.accounts import audit, locking, sign_ins, tasks
from dpportal.accounts.models import AuditEntry, FailedSignIn
from dpportal.history.verification import verify
from tests.dpportal.building import PASSWORD

LIMIT = 5
WRONG = "not the passphrase"
# What Django calls its own, and this portal its own instead.
NOTED = "update_last_login"


def sign_in(client, password=PASSWORD, name="curator", door="accounts:sign_in", **meta):
    return client.post(reverse(door), {"username": name, "password": password}, **meta)


def lock(client, **how):
    for _ in range(LIMIT):
        answer = sign_in(client, WRONG, **how)
    return answer


def is_in(client) -> bool:
    return "_auth_user_id" in client.session


@pytest.mark.parametrize(
    "name, door", [("curator", "accounts:sign_in"), ("administrator", "admin:login")], ids=["portal", "admin"]
)
def test_after_five_wrong_passwords_the_right_one_waits_too(client, curator, administrator, name, door):
    assert lock(client, name=name, door=door).status_code == 429
    answer = sign_in(client, name=name, door=door)
    assert (answer.status_code, answer["Retry-After"]) == (429, "900")
    assert "15 minutes after the last wrong password" in answer.text
    assert "An administrator can unlock it" in answer.text
    assert not is_in(client)


def test_four_wrong_passwords_do_not_count_once_the_right_one_came(client, curator):
    for _ in range(2):
        for _ in range(LIMIT - 1):
            sign_in(client, WRONG)
        sign_in(client)
        assert is_in(client)
        client.logout()


@pytest.mark.slow
def test_a_name_that_nobody_has_is_locked_alike(client, curator):
    known, unknown = lock(client), lock(client, name="nobody")
    assert known.status_code == unknown.status_code == 429
    assert known.headers.keys() == unknown.headers.keys()


def test_the_wait_ends_and_tries_meanwhile_do_not_lengthen_it(client, curator):
    lock(client)
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=14))
    assert sign_in(client, WRONG).status_code == 429
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=1))
    sign_in(client)
    assert is_in(client)


def test_an_administrator_unlocks_and_that_is_recorded(client, curator, administrator):
    lock(client)
    desk = type(client)()
    desk.force_login(administrator)
    chosen = {"action": "unlock", "_selected_action": [curator.pk]}
    answer = desk.post(reverse("admin:accounts_user_changelist"), chosen, follow=True)
    assert "can try to sign in again" in answer.text
    sign_in(client)
    assert is_in(client)
    assert AuditEntry.objects.filter(by=administrator, action="unlocked signing in").count() == 1


def test_another_address_is_not_locked_and_a_written_header_is_no_address(client, curator):
    for place in range(LIMIT):
        sign_in(client, WRONG, HTTP_X_FORWARDED_FOR=f"203.0.113.{place}")
    assert sign_in(client, HTTP_X_FORWARDED_FOR="203.0.113.99").status_code == 429
    sign_in(client, REMOTE_ADDR="198.51.100.7")
    assert is_in(client)


def test_a_guesser_with_many_addresses_closes_the_door_for_the_name_alone(client, curator, administrator):
    try_elsewhere(client, locking.NAME_LIMIT - 1)
    assert sign_in(client, WRONG, REMOTE_ADDR="203.0.113.1").status_code == 429
    assert sign_in(client, REMOTE_ADDR="203.0.113.2").status_code == 429
    sign_in(client, name="administrator", REMOTE_ADDR="203.0.113.1")
    assert is_in(client)


def test_below_that_a_name_can_sign_in_from_elsewhere(client, curator):
    try_elsewhere(client, locking.NAME_LIMIT - 1)
    sign_in(client, REMOTE_ADDR="203.0.113.1")
    assert is_in(client)


def test_an_address_that_tries_many_names_is_closed_for_all(client, curator):
    sign_in(client, WRONG, name="person")
    tries = AccessAttempt.objects.get()
    for person in range(locking.ADDRESS_LIMIT - 2):
        tries.pk, tries.username = None, f"person{person}"
        tries.save()
    assert sign_in(client, WRONG, name="one more").status_code == 429
    assert sign_in(client).status_code == 429
    sign_in(client, REMOTE_ADDR="203.0.113.1")
    assert is_in(client)


def test_strangers_do_not_lock_a_person_out_of_a_known_browser(client, curator):
    """Neither from many addresses nor from the person's own, where they try as long as they like."""
    sign_in(client)
    client.post(reverse("accounts:sign_out"))
    try_elsewhere(Client(), locking.NAME_LIMIT)
    lock(Client())
    assert sign_in(Client()).status_code == 429
    sign_in(client)
    assert is_in(client)


def test_a_known_browser_is_closed_by_its_own_wrong_passwords(client, curator):
    sign_in(client)
    client.post(reverse("accounts:sign_out"))
    assert lock(client).status_code == 429
    assert sign_in(client, REMOTE_ADDR="203.0.113.1").status_code == 429
    assert not is_in(client)


@pytest.mark.parametrize(
    "cookie", ["", "x", "x:1sBxQ2:x", "known browser x"], ids=["none", "no signature", "forged", "plain"]
)
def test_a_cookie_that_nobody_signed_opens_nothing(client, curator, cookie):
    client.cookies[settings.KNOWN_BROWSER_COOKIE_NAME] = cookie
    for attempt in range(LIMIT):
        answer = sign_in(client, WRONG, headers={"User-Agent": f"known browser {attempt}"})
    assert answer.status_code == 429


def test_a_browser_that_knows_one_person_is_a_strangers_for_another(client, curator, administrator):
    sign_in(client, name="administrator")
    client.post(reverse("accounts:sign_out"))
    try_elsewhere(Client(), locking.NAME_LIMIT)
    assert sign_in(client).status_code == 429


def test_the_cookie_names_nobody_and_stays_with_the_browser(client, curator):
    sign_in(client)
    cookie = client.cookies[settings.KNOWN_BROWSER_COOKIE_NAME]
    assert "curator" not in cookie.value
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    identity = cookie.value.partition(":")[0]
    client.post(reverse("accounts:sign_out"))
    sign_in(client)
    assert client.cookies[settings.KNOWN_BROWSER_COOKIE_NAME].value.partition(":")[0] == identity


def test_one_customers_addresses_of_ipv6_are_one(client, curator):
    for place in range(LIMIT):
        sign_in(client, WRONG, REMOTE_ADDR=f"2001:db8:1:2::{place + 1:x}")
    assert sign_in(client, REMOTE_ADDR="2001:db8:1:2:ffff::1").status_code == 429
    sign_in(client, REMOTE_ADDR="2001:db8:1:3::1")
    assert is_in(client)


def test_ipv4_in_the_clothes_of_ipv6_is_ipv4(client, curator):
    for place in range(LIMIT):
        sign_in(client, WRONG, REMOTE_ADDR=("203.0.113.7", "::ffff:203.0.113.7")[place % 2])
    assert sign_in(client, REMOTE_ADDR="203.0.113.7").status_code == 429
    sign_in(client, REMOTE_ADDR="::ffff:203.0.113.8")
    assert is_in(client)


def test_tries_of_long_ago_close_no_door(client, curator):
    try_elsewhere(client, locking.NAME_LIMIT)
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - timedelta(minutes=15))
    sign_in(client)
    assert is_in(client)


def try_elsewhere(client, times):
    """Wrong passwords for the curator, each from an address of its own."""
    sign_in(client, WRONG, REMOTE_ADDR="198.51.100.0")
    tries = AccessAttempt.objects.get()
    for place in range(1, times):
        tries.pk, tries.ip_address = None, f"198.51.100.{place}"
        tries.save()


@override_settings(PROXIES=(ip_network("127.0.0.1"), ip_network("10.0.0.0/24")))
def test_behind_the_proxy_the_address_is_what_the_proxy_wrote_last(client, curator):
    for place in range(LIMIT):
        sign_in(client, WRONG, HTTP_X_FORWARDED_FOR=f"192.0.2.{place}, 203.0.113.5")
    assert sign_in(client, HTTP_X_FORWARDED_FOR="192.0.2.200, 203.0.113.5").status_code == 429
    sign_in(client, HTTP_X_FORWARDED_FOR="203.0.113.5, 203.0.113.6")
    assert is_in(client)


@override_settings(PROXIES=(ip_network("127.0.0.1"),))
@pytest.mark.parametrize("told", ["", "unknown", "1.2.3.4:80", "fe80::1%eth0", "\x00"])
def test_an_address_that_is_none_is_no_error(client, curator, told):
    assert sign_in(client, WRONG, HTTP_X_FORWARDED_FOR=told).status_code == 200


def test_successes_and_failures_are_logged_without_what_was_typed(client, curator, caplog):
    with caplog.at_level("INFO"):
        sign_in(client, WRONG)
        sign_in(client, name="my secret by mistake")
        sign_in(client)
    told = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("dpportal"))
    assert "sign-in failed for 'curator' from 127.0.0.1" in told
    assert "sign-in failed for an unknown name from 127.0.0.1" in told
    assert "'curator' signed in from 127.0.0.1" in told
    assert not any(secret in caplog.text for secret in (PASSWORD, WRONG, "by mistake"))


def test_known_accounts_have_their_sign_ins_in_the_record(client, curator):
    lock(client)
    sign_in(client, name="nobody")
    sign_in(client, REMOTE_ADDR="198.51.100.7")
    FailedSignIn.objects.filter(person=0).delete()
    tasks.sweep()
    found = list(AuditEntry.objects.order_by("pk").values_list("by__username", "action", "detail"))
    assert found[0] == ("curator", "signed in", "from 198.51.100.7, by password")
    failed = [(by, action, detail.partition(",")[0]) for by, action, detail in found[1:]]
    assert failed == [("curator", "failed to sign in", "from 127.0.0.1")] * LIMIT
    assert not FailedSignIn.objects.exists()


def test_names_that_nobody_has_get_one_line_an_address_and_minute(client, curator):
    for name in ("my secret by mistake", "another", "another"):
        sign_in(client, WRONG, name=name)
    sign_in(client, WRONG, name="nobody", REMOTE_ADDR="198.51.100.7")
    for last in "12":  # one customer's network
        sign_in(client, WRONG, name="nobody", REMOTE_ADDR=f"2001:db8::{last}")
    tasks.sweep()
    assert not AuditEntry.objects.exists()  # the minute is not over
    minute = FailedSignIn.objects.first().at.replace(second=0) - timedelta(minutes=1)
    FailedSignIn.objects.update(at=minute)
    tasks.sweep()
    found = AuditEntry.objects.order_by("pk").values_list("by", "action", "subject", "detail")
    at = f"{minute:%Y-%m-%d %H:%M} UTC"
    tried = [(3, "127.0.0.1"), (1, "198.51.100.7"), (2, "2001:db8::")]
    details = [f"{count} × with a name that nobody has, from {whence}, {at}" for count, whence in tried]
    assert list(found) == [(None, "failed to sign in", "nobody", detail) for detail in details]
    assert not FailedSignIn.objects.exists()
    verify()


def test_administrators_read_and_export_what_strangers_tried(client, administrator):
    audit.record_stranger("failed to sign in", "with a token that nobody has, from 192.0.2.7")
    client.force_login(administrator)
    address = reverse("admin:accounts_auditentry_changelist")
    assert "192.0.2.7" in client.get(address).text
    chosen = {"action": "export", "_selected_action": [AuditEntry.objects.get(subject="nobody").pk]}
    line = json.loads(client.post(address, chosen).content)
    assert line["person"] is None and line["subject"] == "nobody"


def test_a_wrong_password_asks_as_much_of_a_name_that_nobody_has(client, curator):
    """Else a guesser would see from the time which names there are."""
    asked = []
    for name in ("curator", "nobody"):
        with CaptureQueriesContext(connection) as queries:
            sign_in(Client(), WRONG, name=name)
        asked.append([query["sql"].split()[0] for query in queries])
    assert asked[0] == asked[1]


def test_the_tries_that_are_kept_hold_no_password(client, curator):
    sign_in(client, WRONG)
    kept = AccessAttempt.objects.values().get()
    assert WRONG not in repr(kept)


def test_the_time_of_a_sign_in_is_noted_by_what_waits_for_nobody():
    noted = [receiver() for (name, _sender), receiver, _async in user_logged_in.receivers if name == NOTED]
    assert noted == [sign_ins._note_time]
