"""Once records are erased, no digest of the history confirms a guess at what was read from them."""

from __future__ import annotations

import pytest
from django.db.models import BinaryField, ExpressionWrapper, F, QuerySet, Value
from django.test import Client

from dpportal.accounts.models import User
from dpportal.datasets import keys, services
from dpportal.datasets.models import Dataset
from dpportal.history import imprints
from dpportal.history.models import Imprint
from dpportal.operations import sealed_values
from dpportal.platform.sealed import UndecryptableValue
from tests.dpportal import building
from tests.dpportal.history.test_chain import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
ROW = ("Ulla Canary", "44", "9")
TABLE = "\n".join([",".join(ROW), *(f"{number},x,{number}" for number in range(30)), ""]).encode()


@pytest.fixture
def headless(curator) -> Dataset:
    """A file without a line of names, read as if it had one."""
    return building.uploaded(signed_in(curator), TABLE, header="names")


def signed_in(person: User) -> Client:
    desk = Client()
    desk.force_login(person)
    return desk


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
    assert keys.key_of(headless.pk) is None
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


@pytest.mark.parametrize("field", ["rows", "facts", "column_looks"])
def test_a_sealed_value_of_another_dataset_in_its_place_is_named(headless, other_curator, field):
    """It can be opened there: seals are bound to their column, and not to their row."""
    other = building.stored_dataset(other_curator)
    for dataset, value in ((headless, [{"remark": "x"}]), (other, {"seen": 7})):
        Dataset.objects.filter(pk=dataset.pk).update(**{field: value})
    assert list(imprints.differences()) == []
    as_stored = Dataset.objects.annotate(sealed=ExpressionWrapper(F(field), BinaryField()))
    sealed = as_stored.values_list("sealed", flat=True).get(pk=other.pk)
    with unguarded():
        value = Value(bytes(sealed), output_field=BinaryField())
        QuerySet(Dataset).filter(pk=headless.pk).update(**{field: value})
    assert getattr(Dataset.objects.get(pk=headless.pk), field) == {"seen": 7}
    [said] = imprints.differences()
    assert said.startswith(f"read {field} of dataset {headless.pk} is not what the portal wrote")


def test_what_is_sealed_is_confirmed_by_nothing_after_the_erasure(headless, curator):
    before = {field: getattr(headless, field) for field in ("rows", "facts", "column_looks")}
    assert all(before.values())
    services.erase(headless, curator)
    assert not any(confirmed(headless, field, value) for field, value in before.items())


def test_nor_once_an_upload_that_was_there_before_is_removed(headless, curator):
    rows = headless.rows
    copy = building.uploaded(signed_in(curator), TABLE, header="names")
    assert (copy.state, copy.rows) == (Dataset.State.DUPLICATE, rows)
    services.remove(Dataset.objects.get(pk=copy.pk), curator)
    assert not confirmed(copy, "rows", rows) and not confirmed(copy, "megabytes", 1)
    assert list(imprints.differences()) == []


def test_a_value_that_no_key_opens_is_named_as_such_alone(headless):
    with unguarded():
        QuerySet(Dataset).filter(pk=headless.pk).update(rows=UndecryptableValue(b"x" * 80))
    assert list(imprints.differences()) == []
    assert "datasets.dataset.rows cannot be opened" in "".join(sealed_values.unopened())


def _missing(_key: keys.DatasetKey) -> bytes:
    raise keys.KeyMissingFault("0000")
