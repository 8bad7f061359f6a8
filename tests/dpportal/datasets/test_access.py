"""Rights that were lost meanwhile, each by itself: asked in the transaction that spends or publishes."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory

from dpportal.accounts.models import Role, User
from dpportal.datasets import access
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, Right, Share

pytestmark = pytest.mark.django_db
# Whose right it is, and what happened to it since.
LOST = {
    "no share": lambda share: share.delete(),
    "may only see": lambda share: change(share, right=Right.SEE),
    "no curator any more": lambda share: leave(share.person_id, role=Role.ANALYST),
    "not active any more": lambda share: leave(share.person_id, is_active=False),
    "no owner is left": lambda share: leave(share.dataset.owner_id, is_active=False),
}


def change(share: Share, **fields: object) -> None:
    Share.objects.filter(pk=share.pk).update(**fields)


def leave(person_id: int, **fields: object) -> None:
    User.objects.filter(pk=person_id).update(**fields)


@pytest.fixture
def share(dataset, other_curator) -> Share:
    """The other curator may release from the dataset."""
    return Share.objects.create(dataset=dataset, person=other_curator, right=Right.RELEASE)


def require(share: Share) -> None:
    access.require_releaser(share.dataset, share.person_id, DatasetError)


@pytest.mark.parametrize("loss", LOST)
def test_nothing_is_spent_for_who_lost_the_right(share, loss):
    require(share)
    LOST[loss](share)
    with pytest.raises(DatasetError):
        require(share)


def test_nothing_is_spent_for_an_owner_who_left(dataset, curator):
    access.require_releaser(dataset, curator.pk, DatasetError)
    leave(curator.pk, role=Role.ANALYST)
    with pytest.raises(DatasetError):
        access.require_releaser(dataset, curator.pk, DatasetError)


def test_a_co_owner_answers_for_it_and_a_releaser_does_not(share, analyst):
    leave(share.dataset.owner_id, is_active=False)
    with pytest.raises(DatasetError):
        access.require_owner(share.dataset, DatasetError)
    change(share, right=Right.OWN)
    access.require_owner(share.dataset, DatasetError)
    leave(share.person_id, is_active=False)
    with pytest.raises(DatasetError):
        access.require_owner(share.dataset, DatasetError)


@pytest.mark.parametrize("role", [Role.ANALYST, Role.ADMINISTRATOR])
def test_a_share_opens_nothing_to_who_is_no_curator_any_more(share, role):
    request = RequestFactory().get("/")
    request.user = share.person
    assert list(access.open_datasets(request, Right.RELEASE)) == [share.dataset]
    assert access.with_right(request, share.dataset).right == Right.RELEASE
    request.user.role = role
    assert not access.open_datasets(request, Right.SEE).exists()
    known = Dataset.objects.get(pk=share.dataset_id)
    assert access.with_right(request, known) is known and not getattr(known, "right", 0)
    assert not access.shows_own(request)


def test_a_stranger_has_no_right(share, administrator):
    assert access.right_of(administrator, share.dataset) == 0
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    assert not access.open_datasets(request).exists() and not access.shows_own(request)
