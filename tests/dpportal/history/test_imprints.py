"""What is changed past the portal of people, tokens, shares, declarations and publications is named, part by part."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from uuid import uuid4

import numpy as np
import pytest
from django.db import IntegrityError, connection, models, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dpportal.accounts import people
from dpportal.accounts.models import AuthenticatorApp, Passkey, ProviderIdentity, RecoveryCode, Role, User
from dpportal.api import tokens
from dpportal.api.models import ApiToken, Scope
from dpportal.datasets import area_map, sharing
from dpportal.datasets.area_map import AreaMap
from dpportal.datasets.models import PublicDescription, Right, Share
from dpportal.datasets.near_duplicates import TableSketch
from dpportal.datasets.receipts import ErasureReceipt
from dpportal.history import chain, eras, imprints
from dpportal.history.models import Era, Imprint, Link
from dpportal.history.verification import verify
from dpportal.notices.models import AllowedHost, Webhook
from dpportal.publications import publishing
from dpportal.releases.models import Release
from dpportal.streams import period_imprints, services as stream_services, tokens as stream_tokens, vault
from dpportal.streams.models import Period, SealedSums
from dpportal.streams.vault import TrueCounts
from tests.dpportal import building
from tests.dpportal.history.test_chain import sql, unguarded
from tests.dpportal.streams import building as streams
from tests.dpportal.streams.test_publishing import publish

pytestmark = pytest.mark.django_db


def found() -> str:
    return "\n".join(imprints.differences())


@pytest.fixture
def world(dataset, curator, other_curator, administrator) -> Release:
    """A portal with something of every kind whose state is in the history."""
    release = building.requested_release(dataset)
    AuthenticatorApp.objects.create(person=curator, secret="A", added_at=timezone.now())
    Passkey.objects.create(person=curator, name="Key", credential="c", public_key=b"k", sign_count=0)
    RecoveryCode.objects.bulk_create([RecoveryCode(person=curator, digest=digit * 64) for digit in "12"])
    ProviderIdentity.objects.create(person=curator, issuer="https://id.example", subject="s")
    tokens.make(curator, "Nightly", Scope.RELEASE, 30, Decimal("0.5"))
    sharing.share(dataset, other_curator.username, Right.SEE, by=curator)
    PublicDescription.objects.create(dataset=dataset, text="Colours", shown=True)
    AreaMap.objects.create(dataset=dataset, column="colour", outlines={"shapes": {}})
    Webhook.objects.create(
        person=curator, address="https://a.example", secret="s", origin="https://p.example"
    )
    AllowedHost.objects.create(host="a.example", by=administrator)
    stream = streams.open_stream(dataset)
    stream_tokens.renew(stream, curator)
    publish(stream, 1, 100)
    stream_services.publish(stream, curator)
    TableSketch.objects.get_or_create(dataset=dataset, defaults={"content": "a sample"})
    ErasureReceipt.objects.create(dataset_id=uuid4(), document='{"receipt": {}}')
    Release.objects.filter(pk=release.pk).update(measured_at=timezone.now())
    publishing.publish(release, curator, lambda: None)
    return release


FORGERIES = {
    "a role": ("UPDATE accounts_user SET role = 'administrator' WHERE username = 'curator'", "role of user"),
    "a closed account": ("UPDATE accounts_user SET is_active = '0'", "is_active of user"),
    "an address": ("UPDATE accounts_user SET email = 'x@example.org'", "email of user"),
    "a password": ("UPDATE accounts_user SET password = 'x' WHERE username = 'other'", "password of user"),
    "no app": ("DELETE FROM accounts_authenticatorapp", "authenticatorapp .* is gone"),
    "another passkey": ("UPDATE accounts_passkey SET credential = 'd'", "credential of passkey"),
    "another code": ("UPDATE accounts_recoverycode SET digest = digest || 'x'", "digest of recoverycode"),
    "another identity": ("UPDATE accounts_provideridentity SET subject = 't'", "subject of provideridentity"),
    "a rule": (
        "INSERT INTO accounts_secondfactorrule (role) VALUES ('curator')",
        "secondfactorrule curator is not in",
    ),
    "a scope": ("UPDATE api_apitoken SET scope = 'administer'", "scope of apitoken"),
    "a limit": ('UPDATE api_apitoken SET "limit" = 50', "limit of apitoken"),
    "a token that works again": (
        "UPDATE api_apitoken SET expires_at = '2099-01-01 00:00:00+00:00'",
        "expires_at of apitoken",
    ),
    "a share": ('UPDATE datasets_share SET "right" = 3', "right of share"),
    "an owner": (
        "UPDATE datasets_dataset SET owner_id = (SELECT id FROM accounts_user WHERE username = 'other')",
        "owner_id of dataset",
    ),
    "a description": ("UPDATE datasets_publicdescription SET text = 'None'", "text of publicdescription"),
    "a map": ("UPDATE datasets_areamap SET outlines = '{}'", "outlines of areamap"),
    "whom a frozen declaration protects": (
        "UPDATE datasets_domainversion SET unit_column = 'age'",
        "unit_column of declaration",
    ),
    "a frozen column": (
        "UPDATE datasets_attributedeclaration SET declaration = '{}' WHERE \"column\" = 'age'",
        "column age of declaration",
    ),
    "no frozen column": (
        "DELETE FROM datasets_attributedeclaration WHERE \"column\" = 'age'",
        "column age of declaration",
    ),
    "a title": ("UPDATE releases_release SET title = 'Other'", "title of release"),
    "a release taken back": (
        "UPDATE releases_release SET withdrawn_at = published_at",
        "withdrawn_at of release",
    ),
    "a stream that is public no more": (
        "UPDATE streams_stream SET published_at = NULL",
        "published_at of stream",
    ),
    "a calendar": ("UPDATE streams_stream SET step = 'week'", "step of stream"),
    "a sketch": ("DELETE FROM datasets_tablesketch", "tablesketch .* is gone"),
    "a receipt": ("UPDATE datasets_erasurereceipt SET document = '{}'", "document of erasurereceipt"),
    "no receipt": ("DELETE FROM datasets_erasurereceipt", "erasurereceipt .* is gone"),
    "a stream's token": ("UPDATE streams_stream SET token_sha256 = 'x'", "token_sha256 of stream"),
    "a published period": ("UPDATE streams_period SET released = '[7]'", "period 1 of periods of stream"),
    "no period": (
        "DELETE FROM streams_sealedsums; DELETE FROM streams_period",
        "periods of stream .* is gone",
    ),
    "a webhook": ("UPDATE notices_webhook SET origin = 'https://b.example'", "origin of webhook"),
    "a host": ("UPDATE notices_allowedhost SET host = 'b.example'", "host of allowedhost"),
}


def test_what_the_portal_writes_agrees_and_each_forgery_is_named(world):
    assert found() == ""
    for statement, words in FORGERIES.values():
        with transaction.atomic():
            for part in statement.split("; "):
                sql(part)
            assert re.search(words, found()), statement
            transaction.set_rollback(True)
    assert found() == ""
    verify()


def test_whoever_is_made_past_the_portal_is_named(curator):
    sql(
        "INSERT INTO accounts_user SELECT 1000, password, last_login, is_superuser, 'mole', first_name, last_name, "
        "email, is_staff, is_active, date_joined, role, display_name, must_change_password, unseen_changes, language, "
        "browser_language "
        "FROM accounts_user"
    )
    assert "user 1000 is not in the history" in found()


def _own_password(person: User) -> None:
    person.set_password("another password")
    person.save()


LATER: dict[str, Callable[[User], object]] = {
    "one field": lambda person: people.save(person, person, ["display_name"]),
    "all fields": _own_password,
    "of many": lambda person: User.objects.filter(pk=person.pk).update(
        language="zh-hans", email="a@example.org"
    ),
}


@pytest.mark.parametrize("write", LATER.values(), ids=LATER)
def test_what_was_changed_stays_named_whatever_the_portal_writes_beside_it(curator, write):
    sql("UPDATE accounts_user SET role = 'administrator' WHERE username = 'curator'")
    person = User.objects.get(pk=curator.pk)
    person.display_name = "Known"
    write(person)
    assert (
        found() == f"role of user {curator.pk} is not what the portal wrote: it was changed past the portal."
    )


@pytest.mark.parametrize("write", LATER.values(), ids=LATER)
def test_whoever_is_made_past_the_portal_stays_named(curator, write):
    mole = models.QuerySet(User).bulk_create([User(username="mole", role=Role.ADMINISTRATOR)])[0]
    write(mole)
    assert found().startswith(f"user {mole.pk} is not in the history")


def test_a_new_period_makes_none_before_it_true(dataset):
    stream = streams.open_stream(dataset)
    for index in (1, 2):
        publish(stream, index, 100)
    models.QuerySet(Period).filter(index=1).update(half_width=0)
    publish(stream, 3, 100)
    assert found().startswith("period 1 of periods of stream")
    with unguarded():
        Period.objects.filter(index=1).delete()
    publish(stream, 4, 100)
    assert found().startswith("period 1 of periods of stream")


def test_what_changes_and_what_is_deleted_by_the_portal_agrees(world, curator, administrator, other_curator):
    token = ApiToken.objects.get()
    tokens.revoke(token, curator)
    person = User.objects.get(pk=other_curator.pk)
    person.role = Role.ANALYST
    people.save(person, administrator, ["role"])
    area_map.remove_areas(world.dataset, "colour", curator)
    RecoveryCode.objects.all().delete()
    Share.objects.update(right=Right.RELEASE)
    Webhook.objects.get().delete()
    publishing.withdraw(world, curator, "Mistaken")
    assert found() == ""


def test_nothing_is_written_where_nothing_changed(curator):
    before = Imprint.objects.count()
    curator.save()
    User.objects.filter(pk=curator.pk).update(role=curator.role)
    curator.last_login = timezone.now()
    curator.save(update_fields=["last_login"])
    assert Imprint.objects.count() == before


def test_imprints_are_lines_of_the_chain_that_stay(curator):
    line = Imprint.objects.get(kind="user", subject=str(curator.pk))
    assert Link.objects.filter(event="imprint", line=line.pk).exists()
    for forge in (Imprint.objects.all().delete, lambda: Imprint.objects.update(digests={})):
        with pytest.raises(IntegrityError, match="never changed or deleted"), transaction.atomic():
            forge()
    sql("UPDATE history_imprint SET digests = '{}'")
    with pytest.raises(Exception, match=r"imprint .* says something else"):
        verify()


def test_what_there_was_before_there_were_imprints_has_one(world):
    with unguarded():
        Link.objects.filter(event__in=["imprint", "era"]).delete()
        for lines in (Imprint, Era):
            lines.objects.all().delete()
    eras.begin()
    assert found() == ""
    count = Imprint.objects.count()
    eras.begin()  # once only
    assert Imprint.objects.count() == count > 0


def test_the_newest_line_is_the_last_of_the_chain_however_the_database_numbers_rows(curator):
    """Whoever has the database alone puts its numbers back, and makes undone what the portal wrote meanwhile."""
    kind, key = imprints.kinds["user"], str(curator.pk)
    closed = imprints.digests_of(kind, key, {"is_active": False}, {})
    line = Imprint(pk=-900, kind="user", subject=key, digests={**imprints.newest_of(kind)[key], **closed})
    line.save(force_insert=True)
    chain.add(imprints.LINE, line)
    assert found() == f"is_active of user {key} is not what the portal wrote: it was changed past the portal."


def test_a_dump_confirms_no_guess_without_the_key_outside_it(curator, settings):
    settings.FINGERPRINT_KEY = "another key"
    again = imprints.digests_of(imprints.kinds["user"], str(curator.pk), {"role": "curator"}, {})
    assert again["role"] not in json.dumps(list(Imprint.objects.values_list("digests", flat=True)))


def test_periods_of_several_lines_agree_and_each_is_named(dataset, monkeypatch):
    monkeypatch.setattr(period_imprints, "TOGETHER", 3)
    stream = streams.open_stream(dataset)
    for index in range(1, 6):
        publish(stream, index, 1)
    assert found() == ""
    Period.objects.filter(index=4).update(half_width=0)
    assert found().startswith(f"period 4 of periods of stream {stream.pk} 3 is not")


def test_many_periods_are_written_down_in_as_many_statements_as_few(dataset):
    """Who erases records of thousands of periods holds rows that others wait for."""
    stream, statements = streams.open_stream(dataset), []
    for first, last in ((100, 120), (200, 400)):
        made = [Period(stream=stream, index=i, released=[i], half_width=1) for i in range(first, last)]
        periods = Period.objects.bulk_create(made)
        vault.keep_sums((period, TrueCounts(np.array([7]), np.array([0]))) for period in periods)
        with CaptureQueriesContext(connection) as asked:
            period_imprints.note(stream, periods)
        indexes = [period.index for period in periods]
        with (
            CaptureQueriesContext(connection) as asked_again,
            period_imprints.sums_changing(stream, indexes),
        ):
            SealedSums.objects.filter(period__in=periods).delete()
        statements.append((len(asked), len(asked_again)))
    assert statements[0] == statements[1] and not found()
