"""The chances are private in exact arithmetic, as large as the paper's, and the coins have them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.noise import Noise
from mechanisms.noise.choices import CERTAIN
from mechanisms.partition_selection import choosing
from mechanisms.partition_selection.keep_probabilities import factor_below, keep_probabilities
from mechanisms.protocol import PlanError

GRID = list(itertools.product(("0.01", "0.5", "1", "3"), ("0.000001", "0.00000000001", "0.05")))
mpmath.mp.prec = 400


def loss(
    amount: str = "1",
    delta: str = "0.00001",
    *,
    definition: Definition = Definition.PURE,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    max_rows: int = 1,
) -> Loss:
    return Loss(definition, Fraction(amount), PrivacyUnit(neighbours, max_rows), Fraction(delta))


def exact_factor(epsilon: Fraction) -> Fraction:
    """Above e^ε by less than 10^-60 of it: what a proof may use for the factor."""
    return Fraction(int(mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator) * 10**80) + 1, 10**80)


@pytest.mark.parametrize("epsilon", ["0", "0.000001", "0.3", "1", "2.5", "700"])
def test_factor_is_below_the_exponential_and_close(epsilon: str) -> None:
    exact = mpmath.exp(mpmath.mpf(epsilon))
    factor = mpmath.mpf(factor_below(Fraction(epsilon))) / CERTAIN
    assert exact * (1 - mpmath.mpf(2) ** -120) - mpmath.mpf(2) ** -127 <= factor <= exact


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_neighbouring_counts_keep_both_inequalities_exactly(epsilon: str, delta: str) -> None:
    table = keep_probabilities(Fraction(epsilon), Fraction(delta), 10**5)
    assert table is not None and table[0] == 0 and table[-1] == CERTAIN
    # The factor that was used is a proven lower bound of e^ε, so these inequalities imply those of e^ε.
    factor, added = Fraction(factor_below(Fraction(epsilon)), CERTAIN), Fraction(delta)
    chances = [Fraction(probability, CERTAIN) for probability in (*table, CERTAIN)][:50]
    for fewer, more in itertools.pairwise(chances):
        for p, q in ((fewer, more), (more, fewer)):
            assert q <= factor * p + added
            assert 1 - q <= factor * (1 - p) + added


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_no_private_choice_keeps_more(epsilon: str, delta: str) -> None:
    """The bound of the paper's Theorem 1 at each count, in 400 bits; what rounding loses is nothing."""
    table = keep_probabilities(Fraction(epsilon), Fraction(delta), 10**5)
    assert table is not None
    factor, added, bound = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(delta), mpmath.mpf(0)
    for probability in table[1:]:
        bound = min(factor * bound + added, 1 - (1 - bound - added) / factor, mpmath.mpf(1))
        assert -(mpmath.mpf(10) ** -24) <= mpmath.mpf(probability) / CERTAIN - bound <= 0


def test_closed_form_of_small_counts() -> None:
    table = keep_probabilities(Fraction(1), Fraction("0.00001"), 10**5)
    assert table is not None
    for people in range(1, 11):
        expected = 1e-5 * math.expm1(people) / math.expm1(1)
        assert table[people] / CERTAIN == pytest.approx(expected, rel=1e-12)


UNITS = list(itertools.product(Neighbours, (1, 2)))


@pytest.mark.parametrize(("neighbours", "max_rows"), UNITS)
def test_all_small_tables_by_brute_force(neighbours: Neighbours, max_rows: int) -> None:
    """Every pair of neighbours with three possible values and two others: the whole law of what is kept, exactly."""
    chosen = choosing.plan(loss("0.7", "0.1", neighbours=neighbours, max_rows=max_rows))
    factor, delta = Fraction(factor_below(Fraction("0.7")), CERTAIN), Fraction("0.1")
    people = [
        set(values) for size in range(max_rows + 1) for values in itertools.combinations(range(3), size)
    ]
    for others in itertools.combinations_with_replacement(people, 2):
        pairs = (
            itertools.product(people, people)
            if neighbours is Neighbours.REPLACE_ONE
            else itertools.chain.from_iterable(((set(), own), (own, set())) for own in people)
        )
        for before, after in pairs:
            here, there = law(chosen, [*others, before]), law(chosen, [*others, after])
            # The largest difference over all events is the sum over outcomes of what is above the factor.
            beyond = sum(max(Fraction(0), p - factor * q) for p, q in zip(here, there, strict=True))
            assert beyond <= delta


def law(chosen: choosing.ValueChoicePlan, people: list[set[int]]) -> list[Fraction]:
    """The probability of each of the eight sets that may be kept."""
    counts = [sum(value in own for own in people) for value in range(3)]
    last = len(chosen.probabilities) - 1
    chances = [Fraction(chosen.probabilities[min(count, last)], CERTAIN) for count in counts]
    outcomes = itertools.product((False, True), repeat=3)
    return [
        math.prod((p if kept else 1 - p) for p, kept in zip(chances, outcome, strict=True))
        for outcome in outcomes
    ]


def test_the_same_test_finds_a_coin_that_is_too_generous() -> None:
    chosen = choosing.plan(loss("0.7", "0.1"))
    factor = Fraction(factor_below(Fraction("0.7")), CERTAIN)
    one, none = law(chosen, [{0}]), law(chosen, [set()])
    assert sum(max(Fraction(0), p - factor * q) for p, q in zip(one, none, strict=True)) > Fraction("0.0999")


def test_shares_of_persons_with_many_values() -> None:
    shared = choosing.plan(loss("1", "0.00001", max_rows=5))
    replaced = choosing.plan(loss("1", "0.00001", neighbours=Neighbours.REPLACE_ONE, max_rows=5))
    assert (shared.epsilon, shared.delta) == (Fraction(1, 5), Fraction(1, 500_000))
    assert (replaced.epsilon, replaced.delta) == (Fraction(1, 10), Fraction(1, 1_000_000))


def test_rho_is_shared_by_squares() -> None:
    chosen = choosing.plan(loss("0.02", "0.00001", definition=Definition.ZCDP, max_rows=4))
    assert chosen.epsilon == Fraction("0.1") and 4 * chosen.epsilon**2 / 2 <= Fraction("0.02")


def test_people_for_a_chance() -> None:
    chosen = choosing.plan(loss())
    for chance in (Fraction(1, 2), Fraction(99, 100), Fraction(1)):
        fewest = chosen.people_for(chance)
        assert chosen.probabilities[fewest - 1] < chance * CERTAIN <= chosen.probabilities[fewest]


def test_without_delta_there_is_no_choice() -> None:
    with pytest.raises(PlanError, match="δ above 0"):
        choosing.plan(loss(delta="0"))


@pytest.mark.parametrize(
    ("amount", "definition"),
    [("0.000001", Definition.PURE), ("0.000000000000000000001", Definition.ZCDP)],
)
def test_a_loss_too_small_is_refused_without_data(
    amount: str, definition: Definition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "MOST_PEOPLE", 1000)
    with pytest.raises(PlanError, match="Choose a larger"):
        choosing.plan(loss(amount, definition=definition, max_rows=1000))


def test_a_plan_survives_its_json() -> None:
    chosen = choosing.plan(loss("0.3", "0.0000001", max_rows=2))
    assert choosing.ValueChoicePlan.from_json(chosen.to_json()) == chosen


def test_coins_fall_as_their_chances_say() -> None:
    chosen, trials = choosing.plan(loss("1", "0.01")), 20_000
    for people in (1, 3, 5):
        kept = int(choosing.measure(chosen, np.full(trials, people), Noise()).sum())
        chance = chosen.probabilities[people] / CERTAIN
        p_value = 2 * min(binom.cdf(kept, trials, chance), binom.sf(kept - 1, trials, chance))
        assert p_value > 1e-7


def test_nobodys_value_is_never_kept_and_everybodys_always() -> None:
    kept = choosing.measure(choosing.plan(loss("1", "0.1")), np.array([0] * 1000 + [10**6] * 1000), Noise())
    assert not kept[:1000].any() and kept[1000:].all()


def test_a_coin_is_decided_by_all_of_its_bits() -> None:
    half = 1 << 127

    def source(size: int) -> bytes:
        return (
            (half >> 64).to_bytes(8, "little")
            + (5).to_bytes(8, "little")
            + b"".join(word.to_bytes(8, "little") for word in (half >> 64, 4))
        )[:size]

    assert Noise(source).bernoulli_each([half + 5], np.array([0, 0])).tolist() == [False, True]


@pytest.mark.parametrize("wrong", [-1, CERTAIN + 1])
def test_no_coin_has_such_a_chance(wrong: int) -> None:
    with pytest.raises(ValueError, match="probability"):
        Noise().bernoulli_each([wrong], np.array([0]))
