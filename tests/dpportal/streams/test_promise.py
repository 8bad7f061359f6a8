"""What a running count promises under ρ, read as (ε, δ), and what it says of corrections."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpportal.budgets.promises import OtherPromises
from dpportal.datasets import services as dataset_services
from dpportal.streams import correction_rule
from dpportal.streams.measure import StreamDraftError, read_increments
from dpportal.streams.series import as_epsilon_delta, promise_of
from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.continual.mechanism import StreamRequest
from tests.dpportal.streams import building

RHO = Loss(Definition.ZCDP, Fraction(50))


@pytest.mark.parametrize(
    "mechanism", [m for m in registry.STREAMS if Definition.ZCDP in m.definitions], ids=lambda m: m.name
)
def test_streams_that_are_proved_in_whole_orders_are_read_by_these(mechanism) -> None:
    """At ρ = 50 the best order is 1.53; of whole ones it is 2, and ε is 112.43 instead of 100.69."""
    text = as_epsilon_delta(mechanism.plan(StreamRequest(8), RHO), 1e-6)
    whole = mechanism.name in ("hierarchy", "doubling-epochs")
    assert text == f"(ε = {'112.43' if whole else '100.69'}, δ = 10⁻⁶)"


def test_a_correction_is_offered_only_where_it_is_paid_for() -> None:
    """To lower the next period for one row too many once moved the answers by two rows, at the price of one."""
    once, more = PrivacyUnit(), PrivacyUnit(max_rows=3)
    replaced = PrivacyUnit(Neighbours.REPLACE_ONE, max_rows=3)
    for definition in Definition:
        stays = correction_rule.rule(Loss(definition, Fraction(1), once))
        assert stays.startswith("Overcounts cannot be corrected later")
        offered = correction_rule.rule(Loss(definition, Fraction(1), more))
        assert "lower a later period" in offered
        assert "at most 3 for each person" in offered
    assert "lower a later period" in correction_rule.rule(Loss(Definition.PURE, Fraction(1), replaced))
    assert "Overcounts" in correction_rule.rule(Loss(Definition.ZCDP, Fraction(1), replaced))


@pytest.mark.slow
def test_the_page_and_the_messages_say_what_was_paid_for(dataset, client, curator) -> None:
    client.force_login(curator)
    stream = building.open_stream(dataset)
    home = client.get(f"/streams/{stream.pk}/home/").content.decode()
    assert "Overcounts cannot be corrected later" in home
    with pytest.raises(StreamDraftError, match="Overcounts cannot be corrected later"):
        read_increments(stream, -1)


def test_the_promise_says_who_sees_to_it_that_nobody_is_counted_more_often(dataset) -> None:
    dataset_services.declare_unit(dataset, neighbours="add-remove", unit_column="age", max_rows=3)
    told = promise_of(building.open_stream(dataset), OtherPromises())
    assert "at most 3 rows: the portal is told numbers, and the curator who counts sees to that" in told
    assert "at random" not in told


def test_with_several_rows_a_person_corrections_are_offered_as_one_of_them(dataset) -> None:
    dataset_services.declare_unit(dataset, neighbours="add-remove", unit_column="age", max_rows=3)
    stream = building.open_stream(dataset)
    with pytest.raises(StreamDraftError, match="rows and corrections together are at most 3 for each person"):
        read_increments(stream, -1)


def test_a_running_count_makes_no_number_of_rows_public(dataset) -> None:
    """It publishes noisy counts alone, of which nobody reads the number of rows; so nor does anything else say so."""
    dataset_services.declare_unit(dataset, neighbours="replace-one", unit_column="", max_rows=1)
    assert dataset.current_domain().unit.total_public
    stream = building.open_stream(dataset)
    assert not stream.charge.total_public and not stream.other_promises.total_published
    promised = promise_of(stream, stream.other_promises)
    assert "number of rows is public" not in promised and "and how many they are" in promised


@pytest.mark.parametrize("mechanism", registry.STREAMS, ids=lambda m: m.name)
def test_that_no_number_of_rows_is_published_costs_no_accuracy(mechanism) -> None:
    """A row that enters or leaves moves no strategy's answers as far as a replaced one."""
    unit = PrivacyUnit(Neighbours.REPLACE_ONE)
    for definition in mechanism.definitions:
        plans = [
            mechanism.plan(StreamRequest(8), Loss(definition, Fraction(1), counted))
            for counted in (unit, unit.allowing_absence(True))
        ]
        assert plans[0].noise == plans[1].noise and plans[0].sensitivity == plans[1].sensitivity
