"""A site that wants two people, two administrators, and what the pages of requests are sent."""

from __future__ import annotations

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.accounts.models import Role, User
from dpportal.platform.two_people import ACTS, TwoPeople
from tests.dpportal import building

PAGES = {"approve": "approve", "refuse": "refuse_approval"}


@pytest.fixture
def two_people(settings) -> TwoPeople:
    """For all acts; a spend above ε 0.2 or ρ 0.01."""
    settings.TWO_PEOPLE = TwoPeople(frozenset(ACTS), Decimal("0.2"), Decimal("0.01"))
    return settings.TWO_PEOPLE


@pytest.fixture
def second(db) -> User:
    return building.person("second", Role.ADMINISTRATOR)


def desk_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def answers(person: User, approval, how: str = "approve", **sent):
    """What a person's page says after an answer."""
    return desk_of(person).post(reverse(PAGES[how], args=[approval.pk]), sent, follow=True)
