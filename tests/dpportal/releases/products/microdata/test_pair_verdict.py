"""What review, page and files say of measured pairs follows from the noise foreseen in them, not from the data."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction

import pytest
from django.template.loader import render_to_string

from dpportal.publications.verdict import VerdictLevel
from dpportal.releases.products.microdata import relied_pairs, usefulness
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.pair_levels import PairLevels
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.registry import microdata


def plan_of(columns: int, method: str = "latent-classes") -> MicrodataPlan:
    domain = Domain(tuple(Categorical(f"q{n}", values=tuple("abcde")) for n in range(columns)))
    return microdata(method).plan(domain, Wishes(), Loss(Definition.PURE, Fraction(1)))


def test_the_review_of_many_columns_says_that_pairs_are_noise() -> None:
    """It said “useful” of 34 columns of 5,000 people at ε = 1, and rows showed dependence where there is none."""
    verdict = usefulness.expected(plan_of(34), 5_000)
    assert verdict.level is VerdictLevel.DOUBTFUL
    assert "Not good for how two columns go together" in verdict.text
    few = usefulness.expected(plan_of(3), 5_000)
    assert few.is_useful and "two columns" not in few.text and "pairs" not in few.text
    rough = usefulness.expected(plan_of(10), 5_000)
    assert rough.is_coarse and "Measured pairs of columns will be rough" in rough.text


@pytest.mark.parametrize(
    ("levels", "good", "bad"),
    [
        (PairLevels(good=33), ["for 33 of 561 pairs: noise misplaces at most 10 % of the people."], []),
        (PairLevels(rough=33), [], ["Small differences, in 33 of 561 pairs"]),
        (PairLevels(noisy=33), [], ["How two columns go together, in 33 of 561 pairs: they were measured, but"]),
        (PairLevels(2, 3, 4), ["for 2 of 561 pairs"], ["in 3 of 561 pairs", "in 4 of 561 pairs"]),
    ],
)  # fmt: skip
def test_readers_are_told_for_which_pairs_rows_are_good(levels, good, bad) -> None:
    plan = plan_of(3)
    shown = {
        "column": 0.04,
        "measured": 33,
        "pairs": 561,
        "levels": asdict(levels),
        "relied_on": relied_pairs.relied_on(plan, levels),
    }
    html = render_to_string(
        "releases/microdata/_good_for.html", {"plan": plan, "shown": shown, "alone": True}
    )
    page = " ".join(html.split())
    under_good, _not_for, under_bad = page.partition("Not for")
    assert all(sentence in under_good for sentence in good) and under_good.count("of 561") == len(good)
    assert all(sentence in under_bad for sentence in bad) and under_bad.count("of 561") == len(bad)
    assert ("measured pairs are near to the truth" in page) is (levels == PairLevels(good=33))
    assert ("mostly noise" in page) is (levels == PairLevels(noisy=33))


def test_a_method_without_measured_pairs_says_what_it_did() -> None:
    plan = plan_of(3, "independent-columns")
    assert "no column tells anything of another" in relied_pairs.relied_on(plan, PairLevels())
