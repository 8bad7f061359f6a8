"""Nobody is two people: by an account that they made, by a token, or by a connection."""

from __future__ import annotations

from uuid import uuid4

import pytest

from dpportal.accounts import people
from dpportal.accounts.models import Role, User
from dpportal.approvals import services
from dpportal.approvals.models import Approval
from dpportal.approvals.services import ApprovalError, Asked
from dpportal.platform.two_people import SPENDS

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked(administrator) -> Approval:
    services.ask(Asked(SPENDS, uuid4(), "Spend ε 1.", "/", {}), administrator)
    return Approval.objects.get()


@pytest.mark.parametrize("action", people.IN_HAND)
def test_an_account_that_the_asker_had_in_hand_does_not_answer(asked, administrator, action):
    puppet = User.objects.create_user("puppet", role=Role.ADMINISTRATOR)
    people.note(puppet, administrator, action)
    with pytest.raises(ApprovalError, match="changed this account lately"):
        services.refuse(asked, puppet, "No.")


def test_another_administrator_does(asked, administrator):
    other = User.objects.create_user("other", role=Role.ADMINISTRATOR)
    services.refuse(asked, other, "No.")
    asked.refresh_from_db()
    assert asked.answered_by == other
