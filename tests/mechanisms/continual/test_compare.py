from __future__ import annotations

from fractions import Fraction

import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.continual.compare import offers, suggested
from mechanisms.continual.fda import FactorisationDiagonal
from mechanisms.continual.mechanism import StreamRequest
from mechanisms.continual.naive import NaiveIncrements, NaiveRepublication
from mechanisms.continual.tree import BinaryTree

ONE = Loss(Definition.PURE, Fraction(1))


def test_each_mechanism_offers_a_plan_or_says_why_not() -> None:
    made = offers(registry.STREAMS, StreamRequest(None), ONE)
    assert [offer.mechanism for offer in made] == list(registry.STREAMS)
    assert all((offer.plan is None) == bool(offer.refusal) for offer in made)
    assert {offer.mechanism.name for offer in made if offer.plan} == {
        "naive-increments",
        "doubling-epochs",
        "hybrid",
    }


@pytest.mark.parametrize(("horizon", "wanted"), [(3, "naive-increments"), (1023, "fda")])
def test_the_least_error_for_the_horizon_is_suggested(horizon: int, wanted: str) -> None:
    few = (NaiveRepublication(), BinaryTree(), FactorisationDiagonal(), NaiveIncrements())
    offer = suggested(offers(few, StreamRequest(horizon), ONE))
    assert offer is not None
    assert offer.mechanism.name == wanted


def test_what_only_serves_to_compare_with_is_not_suggested() -> None:
    made = offers((NaiveRepublication(),), StreamRequest(1), ONE)
    assert made[0].plan is not None
    assert suggested(made) is None


def test_of_equal_ones_the_first_is_suggested() -> None:
    first, second = NaiveIncrements(), NaiveIncrements()
    offer = suggested(offers((first, second), StreamRequest(9), ONE))
    assert offer is not None
    assert offer.mechanism is first


def test_where_all_refuse_nothing_is_suggested() -> None:
    assert suggested(offers(registry.STREAMS, StreamRequest(0), ONE)) is None
