"""The watch over all requests of tests sees an act without a line; its exceptions are addresses that there are."""

from __future__ import annotations

import pytest
from django.urls import get_resolver, reverse

from dpportal.accounts import audit
from dpportal.api.v1 import urls
from tests.dpportal.accounts.test_doors import OF_BUCKETS, named
from tests.dpportal.recorded_acts import UnrecordedActError, changed_tables, reasons


def test_an_act_without_a_line_fails_its_test(client, dataset, curator, monkeypatch):
    client.force_login(curator)
    address = reverse("datasets:several_rows", args=[dataset.pk])
    assert client.post(address, {"column": "colour"}).status_code == 302
    monkeypatch.setattr(audit, "record", lambda *_: None)
    with pytest.raises(UnrecordedActError, match=r"datasets:several_rows changed .*datasets_domainversion"):
        client.post(address, {"column": "age"})


def test_what_was_rolled_back_changed_nothing():
    update = 'UPDATE "releases_release" SET x = 1'
    assert changed_tables([update]) == {"releases_release"}
    assert changed_tables(['SAVEPOINT "s1"', update, 'ROLLBACK TO SAVEPOINT "s1"']) == set()
    assert changed_tables(['SAVEPOINT "s1"', update, 'RELEASE SAVEPOINT "s1"']) == {"releases_release"}


def test_each_exception_is_an_address():
    pages = {name for name, _ in named(get_resolver())}
    assert reasons().keys() <= pages | OF_BUCKETS | {f"api:{pattern.name}" for pattern in urls[0]}
