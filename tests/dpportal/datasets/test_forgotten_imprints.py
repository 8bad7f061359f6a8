"""Once records are erased, no digest of the history confirms a guess at what was read from them."""

from __future__ import annotations

import pytest
from django.db.models import QuerySet
from django.test import Client

from dpportal.datasets import keys, services
from dpportal.datasets.models import Dataset
from dpportal.history import imprints
from dpportal.history.models import Imprint
from tests.dpportal import building
from tests.dpportal.history.test_chain import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ROW = ("Ulla Canary", "44", "9")


@pytest.fixture
def headless(curator) -> Dataset:
    """A file without a line of names, read as if it had one."""
    desk = Client()
    desk.force_login(curator)
    lines = "".join(f"{number},x,{number}\n" for number in range(30))
    return building.uploaded(desk, f"{','.join(ROW)}\n{lines}".encode(), header="names")


def confirmed(dataset: Dataset, name: str, value: object) -> bool:
    """Whether whoever has the portal's keys finds this value of a field in any line of the history."""
    lines = Imprint.objects.filter(kind="dataset", subject=str(dataset.pk)).values_list("digests", flat=True)
    return any(
        digest == imprints._digest("dataset", str(dataset.pk), part, value)
        for digests in lines
        for part, digest in digests.items()
        if name in part
    )


def test_names_that_were_a_record_and_the_file_s_size_are_confirmed_by_nothing(headless, curator):
    names, size = headless.columns, headless.megabytes
    assert [column["name"] for column in names] == list(ROW) and size == 1
    services.erase(headless, curator)
    assert keys.of(headless.pk) is None
    assert not confirmed(headless, "columns", names) and not confirmed(headless, "megabytes", size)
    headless.refresh_from_db()
    assert confirmed(headless, "columns", headless.columns)
    assert list(imprints.differences()) == []


@pytest.mark.parametrize(
    "changed", [{"columns": [{"name": "b"}]}, {"megabytes": 7}, {"filled_columns": ["9"]}]
)
def test_before_that_a_change_past_the_portal_is_named(headless, changed):
    assert list(imprints.differences()) == []
    with unguarded():
        QuerySet(Dataset).filter(pk=headless.pk).update(**changed)
    [said] = imprints.differences()
    assert said.startswith(
        f"read {next(iter(changed))} of dataset {headless.pk} is not what the portal wrote"
    )


def test_without_the_master_key_nothing_is_said_of_them(headless, monkeypatch):
    monkeypatch.setattr(keys.DatasetKey, "unwrapped", _missing)
    assert list(imprints.differences()) == []


def _missing(_key: keys.DatasetKey) -> bytes:
    raise keys.KeyMissingFault("0000")
