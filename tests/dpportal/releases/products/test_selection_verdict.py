"""Nobody spends on, or publishes, a private choice that chance makes without having been told."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from django.urls import reverse

from dpportal.budgets.templatetags.numbers import chance
from dpportal.publications.verdict import VerdictLevel
from dpportal.releases.models import Release
from dpportal.releases.products.selection import verdict
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Date, Integer, Real
from mechanisms.selection import MostCommonValue, Quantile, Score, SelectionPlan
from tests.dpportal.releases.products.building import SURE, finished

PEOPLE = 4_000
MOST, MIDDLE = (
    MostCommonValue(("a", "b", "c", "d")),
    Quantile.of(Integer("age", lower=0, upper=39), Fraction(1, 2)),
)


def planned(score: Score, amount: str) -> SelectionPlan:
    return registry.SELECTIONS[0].plan(score, Loss(Definition.PURE, Fraction(amount)), 1)


def foreseen(score: Score, amount: str):
    plan = planned(score, amount)
    return verdict.expected(plan, registry.selection(plan.mechanism).lead(plan, 0.95), PEOPLE)


@pytest.mark.parametrize("score", [MOST, MIDDLE], ids=["most common", "median"])
def test_at_the_cost_that_is_named_it_is_useful_and_at_a_tenth_of_it_is_not(score):
    assert foreseen(score, "0.0005").level is VerdictLevel.USELESS
    for amount in ("0.0005", "0.004"):
        enough = foreseen(score, amount).amount(Decimal(amount), Definition.PURE)
        assert foreseen(score, str(enough)).is_useful
        assert not foreseen(score, str(enough / 10)).is_useful


@pytest.mark.parametrize(
    ("column", "told"),
    [
        (Integer("age", lower=0, upper=99), "between the limits of age, that is a distance of 5 in age."),
        (
            Real("rent", lower=0, upper=3000, bins=10),
            "that is a distance of 150 in rent. The answer is a bin, which is 300 wide on average.",
        ),
        (
            Date("day", lower=dt.date(2026, 1, 1), upper=dt.date(2026, 7, 19), step="day"),
            "between the limits of day, that is a distance of 10 days in day.",
        ),
        (None, "of all people."),
    ],
)
def test_the_error_of_a_quantile_is_said_in_its_columns_unit(column, told):
    """A lead of 200 among 4,000 people is a twentieth of all ranks: 5 of 100 years, 10 of 200 days."""
    assert verdict.expected(planned(MIDDLE, "1"), 200, PEOPLE, column).text.endswith(told)


def test_without_an_estimate_its_use_is_in_doubt(rich, client):
    draft = Release.objects.create(dataset=rich, created_by=rich.owner, product="selection")
    draft.columns, draft.parameters = ["colour"], {"question": "most-common-value", "picks": 1}
    draft.mechanism, draft.amount = "permute-and-flip", Decimal("0.5")
    draft.save()
    client.force_login(rich.owner)
    review = client.get(reverse("releases:review", args=[draft.pk])).content.decode()
    assert "Expected: doubtful." in review and "nobody can say how likely a lead of" in review


def test_no_error_is_beyond_all_ranks():
    """A lead of 40,000 among 4,000 people."""
    told = verdict.expected(planned(MIDDLE, "1"), 40_000, PEOPLE, Integer("age", lower=0, upper=99))
    assert told.level is VerdictLevel.USELESS and told.text.startswith("Any value may be chosen")


def test_a_quantiles_review_says_its_error_in_years(rich, client):
    draft = Release.objects.create(dataset=rich, created_by=rich.owner, product="selection", people=300)
    draft.columns, draft.parameters = ["age"], {"question": "quantile", "level": "1/2", "picks": 1}
    draft.mechanism, draft.amount = "permute-and-flip", Decimal("0.5")
    draft.save()
    client.force_login(rich.owner)
    review = client.get(reverse("releases:review", args=[draft.pk])).content.decode()
    assert "spread evenly between the limits of age, that is a distance of" in review


def test_a_choice_is_good_within_a_tenth_of_the_best():
    chances = np.array([0.5, 0.2, 0.2, 0.1])
    assert verdict.good_chance(planned(MOST, "1"), np.array([100, 90, 89, 0]), chances, 279) == 0.7
    assert verdict.good_chance(
        planned(MOST, "1"), np.array([100, 100, 100, 100]), chances, 400
    ) == pytest.approx(1)


def test_a_quantile_is_good_within_two_in_a_hundred_ranks():
    """Of 1,000 people that is 20 of them, in whatever points the score is kept."""
    plan = planned(MIDDLE, "1")
    points = plan.score.points_per_row
    scores, chances = np.full(40, -500 * points), np.full(40, 0.025)
    scores[:3] = [0, -20 * points, -21 * points]
    assert verdict.good_chance(plan, scores, chances, 1000) == pytest.approx(0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("amount", "is_asked"), [("0.001", True), (SURE, False)])
def test_what_chance_chose_is_published_after_a_word_only(rich, client, amount, is_asked):
    """Three colours of 100 people each among four candidates: nearly even chances at the small cost."""
    release = finished(
        rich, "selection", ["colour"], amount, "permute-and-flip", question="most-common-value", picks=1
    )
    client.force_login(rich.owner)
    compare, publish = (
        client.get(reverse(f"releases:{page}", args=[release.pk])).content.decode()
        for page in ("compare", "publish")
    )
    chance = "the chance of the best choice, or one nearly as good, was"
    assert chance in compare and chance not in publish
    assert ("publish it all the same" in publish) is is_asked


def test_no_chance_is_certain():
    """A float is 1 where the other candidate trails by thousands; noise may choose it all the same."""
    assert [chance(share) for share in (0.5, 0.9996, 1.0)] == ["50.0 %", "over 99.9 %", "over 99.9 %"]
