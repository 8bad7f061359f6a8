"""What first sentences say of groups: that equal ones differ in at most 5 % of releases, and of others how."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from django.template.loader import render_to_string
from django.utils.html import strip_tags

from dpportal.platform.json_types import Json
from dpportal.publications.extremes import Extremes, extremes, is_certainly_largest
from dpportal.releases.products.histogram import page as histogram_page
from dpportal.releases.products.means import page as means_page
from dpportal.releases.products.means.runner import GroupMeans
from dpportal.releases.products.queries import page as queries_page
from dpportal.releases.products.shared import bounds
from dpportal.releases.products.shared.cells import added_up, cell_number
from dpportal.releases.products.summary import page as summary_page
from dpportal.releases.products.summary.table_one import TableOne
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.histogram.box_sums import half_width_apart
from mechanisms.matrix.fixed_strategies import CellsStrategy
from mechanisms.matrix.workload.text import read_workload
from mechanisms.moments.column import MeasuredColumn
from mechanisms.moments.estimates import Interval
from mechanisms.moments.mechanism import BernsteinSums, exact_sums
from mechanisms.noise import Noise
from mechanisms.noise.laws import DiscreteGaussian, DiscreteLaplace
from mechanisms.noise.sum_quantiles import widening
from mechanisms.protocol import Measurement
from mechanisms.summary.estimates import estimates
from mechanisms.summary.mechanism import ColumnTables
from tests.mechanisms.summary.counting import counted

RUNS = 200
# Of true 5 % more are wrong with a chance of 1 %: 18 of 200.
MOST = RUNS // 20
LOSSES = [Loss(Definition.PURE, Fraction(1)), Loss(Definition.ZCDP, Fraction(1, 10))]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=["pure", "zcdp"])
GROUP = Categorical("g", values=("a", "b", "c", "d", "e"), closed=True)


def test_only_what_lies_apart_from_all_others_is_highest_or_lowest() -> None:
    lower, upper = np.array([0.0, 5.0, 5.5]), np.array([1.0, 6.0, 7.0])
    assert extremes(lower, upper) == Extremes(lowest=0)
    assert extremes(-upper, -lower) == Extremes(highest=0)
    chain = extremes(np.array([0.0, 0.9, 1.8]), np.array([1.0, 1.9, 2.8]))
    assert chain == Extremes(pair=(2, 0))
    assert extremes(np.array([0.0, 1.0, np.nan]), np.array([2.0, 3.0, np.nan])) == Extremes()
    assert extremes(np.array([0.0, np.nan]), np.array([2.0, np.nan])) == Extremes()


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(40)), DiscreteGaussian(Fraction(900))])
def test_widened_intervals_hold_together_as_often_as_each_is_wrong_less_often(law) -> None:
    """By the law itself: one of k is wrong with a chance of at most 5 % over k."""
    half = law.half_width(0.95)
    for statements in (2, 10, 1000):
        reach = int(widening(statements, law) * (half + 1))
        assert statements * (1 - law.coverage(reach)) <= 0.05


def means(people: list[int], values: list[int], loss: Loss) -> list[Json]:
    """Findings of releases of groups with one value each."""
    groups = Domain((Integer("g", lower=1, upper=len(people)),))
    plan = BernsteinSums().plan(
        groups, [MeasuredColumn.of(Integer("x", lower=0, upper=100))], 1, loss, sum(people)
    )
    powers = [[n, n * v, n * v * v, 0, 0, 0] for n, v in zip(people, values, strict=True)]
    exact = exact_sums(plan, np.array([powers], dtype=object))
    noise = Noise(np.random.default_rng(3).bytes)
    measured = (BernsteinSums().measure(plan, exact, noise).values for _ in range(RUNS))
    results = (GroupMeans.of(plan, values) for values in measured)
    return [
        means_page._finding(plan, result, 0, means_page._rows_shown(plan, result, 0)) for result in results
    ]


def differs(finding: Json) -> bool:
    return bool({"highest", "lowest", "above"} & set(finding))


@pytest.mark.slow
@every_loss
@pytest.mark.parametrize("people", [20, 1000])
def test_means_of_equal_groups_are_not_said_to_differ(people: int, loss: Loss) -> None:
    found = means([people] * 5, [40] * 5, loss)
    assert sum(map(differs, found)) <= MOST


@pytest.mark.slow
@every_loss
def test_a_group_of_nobody_is_neither_highest_nor_lowest(loss: Loss) -> None:
    found = means([400, 400, 400, 400, 0, 0], [40] * 6, loss)
    assert sum(map(differs, found)) <= MOST
    assert sum(each["passed_over"] < 2 for each in found) <= MOST


@pytest.mark.slow
@every_loss
def test_means_that_lie_apart_are_named(loss: Loss) -> None:
    found = means([2000] * 5, [30, 40, 40, 40, 90], loss)
    assert all(each["highest"]["name"] == "5" and each["lowest"]["name"] == "1" for each in found)


@pytest.mark.slow
@every_loss
def test_counts_of_equal_cells_have_no_largest(loss: Loss) -> None:
    method = next(m for m in registry.HISTOGRAMS if m.is_plain and loss.definition in m.definitions)
    plan = method.plan(Domain((GROUP,)), {}, loss)
    noise = Noise(np.random.default_rng(3).bytes)

    def found(counts: np.ndarray) -> Json:
        result = method.reconstruct(plan, method.measure(plan, counts, noise))
        return histogram_page._finding(plan, result, None, lambda _picks: None)

    equal = np.full(plan.domain.size, 50, dtype=np.int64)
    assert sum("largest" in found(equal) for _ in range(RUNS)) <= MOST
    equal[1] += 100
    assert all(found(equal)["largest"] == "g b" for _ in range(RUNS))


def test_counts_that_hardly_move_have_a_largest_by_more_than_their_noise() -> None:
    """At ε = 4 the half-width is 0, and yet one of a hundred equal counts is moved up nearly always."""
    law = DiscreteLaplace(Fraction(1, 4))
    assert law.half_width(0.95) == 0
    assert not is_certainly_largest(11, 10, 0, 100, law)
    assert is_certainly_largest(20, 10, 0, 100, law)


@every_loss
def test_the_headline_goes_by_what_the_page_says_of_differences(loss: Loss) -> None:
    """Of counts 114 apart it said that none is the largest; below stood that 69 apart is a difference in truth."""
    method = next(m for m in registry.HISTOGRAMS if m.is_plain and loss.definition in m.definitions)
    plan = method.plan(Domain((GROUP,)), {}, loss)
    apart = histogram_page.most_apart(plan)
    assert apart is not None and apart > half_width_apart(plan)
    for above in (apart, apart + 1):
        raw = np.zeros(plan.domain.size, dtype=np.int64)
        raw[1] = above
        result = method.reconstruct(plan, Measurement(raw))
        found = histogram_page._finding(plan, result, None, lambda _picks: None)
        assert ("largest" in found) is (above > apart)


@pytest.mark.slow
@every_loss
def test_equal_answers_have_no_largest(loss: Loss) -> None:
    method = CellsStrategy()
    domain = Domain((GROUP,))
    plan = method.plan(domain, read_workload('identity("g")', domain), loss)
    noise = Noise(np.random.default_rng(3).bytes)

    def found(counts: np.ndarray) -> Json:
        return queries_page._finding(plan, method.reconstruct(plan, method.measure(plan, counts, noise)))

    equal = np.full(domain.size, 50, dtype=np.int64)
    assert sum("largest" in found(equal) for _ in range(RUNS)) <= MOST
    equal[1] += 100
    assert all("b" in found(equal)["largest"] for _ in range(RUNS))


@pytest.mark.slow
@every_loss
def test_equal_groups_of_a_summary_have_no_largest(loss: Loss) -> None:
    groups = Domain((GROUP,))
    plan = ColumnTables().plan(groups, [Integer("x", lower=0, upper=9)], (), loss, 500)
    noise = Noise(np.random.default_rng(3).bytes)

    def found(people: list[int]) -> Json:
        group = np.repeat(np.arange(5), people)
        exact = counted(plan, group, {"x": group % 5})
        summary = registry.summary(plan.mechanism)
        values = summary.measure(plan, exact, noise).values
        return summary_page._finding(TableOne(plan, estimates(plan, values)))["finding"]

    assert sum("largest" in found([100] * 5) for _ in range(RUNS)) <= MOST
    assert all(found([100, 400, 100, 100, 100])["largest"] == "b" for _ in range(20))


def test_a_number_near_nobody_is_told_with_both_ends() -> None:
    """Ten people of two groups: no margin of which one side would be below 0."""
    plan = ColumnTables().plan(
        Domain((Integer("g", lower=1, upper=2),)), [Integer("x", lower=0, upper=9)], (), LOSSES[0], 500
    )
    exact = counted(plan, np.repeat([0, 1], [8, 2]), {"x": np.resize([3, 4, 5], 10)})
    values = ColumnTables().measure(plan, exact, Noise(np.random.default_rng(354).bytes)).values
    table = TableOne(plan, estimates(plan, values))
    finding = summary_page._finding(table)["finding"]
    assert finding["ends"].startswith("[0 to ") and table.heads[0]["text"].endswith(finding["ends"])
    said = strip_tags(
        render_to_string("releases/_finding.html", {"plan": plan, "shown": {"finding": finding}})
    )
    assert finding["ends"] in said and "±" not in said
    number = cell_number(table.summary.number, (table.everybody,), "people")
    assert added_up(number, 2).rounded.ends == (0, math.ceil(number.upper))
    assert added_up(number._replace(lower=5, value=10, upper=15), 2).ends is None


def test_a_bound_speaks_where_many_values_may_lie_at_it() -> None:
    anything = Interval(np.array([np.nan]), np.array([0.0]), np.array([1.0]))
    few = Interval(np.array([0.01]), np.array([0.0]), np.array([0.11]))
    column = MeasuredColumn.of(Integer("age", lower=0, upper=100))
    assert bounds.notes(column, (few, anything), 0) == []
    certain = Interval(np.array([0.97]), np.array([0.95]), np.array([0.99]))
    [note] = bounds.notes(column, (few, certain), 0)
    assert note["share"] == "97.0 % ± 2.0"
    said = " ".join(render_to_string("releases/means/_at_bound.html", {"note": note}).split())
    assert said.startswith("Values above 100 count as 100: nearly all, 97.0 % ± 2.0, are 100 or above")
    assert bounds.notes(column, (few, few), 0) == []
    for lower, upper, words in (
        (0, 0.4, "0 to 40 %"),
        (0.3, 1, "30 to 100 %"),
        (0.05, 0.6, "5 to 60 %"),
        (0.04, 0.31, "4 to 31 %"),
    ):
        near = Interval(np.array([lower + 0.03]), np.array([lower]), np.array([upper]))
        [note] = bounds.notes(column, (few, near), 0)
        assert (note["share"], note["is_possible"]) == (words, lower < 0.05)


@pytest.mark.parametrize(("lower", "upper"), [(0.03, 0.94), (0.0, 0.95), (0.0, 0.6)])
def test_a_share_that_may_be_nothing_or_most_is_no_sentence(lower, upper) -> None:
    """“Between 3 % and 94 % are 0 or below” tells nobody anything."""
    column = MeasuredColumn.of(Integer("days", lower=0, upper=60))
    unsure = Interval(np.array([(lower + upper) / 2]), np.array([lower]), np.array([upper]))
    assert bounds.notes(column, (unsure, unsure), 0) == []


@pytest.mark.parametrize(("lower", "is_behind"), [(0, True), (1, True), (18, False)])
def test_a_lower_limit_where_counting_begins_is_kept_in_mind_alone(lower, is_behind) -> None:
    """Of households with one person 14 % to 83 % are at the limit, and none is below."""
    column = MeasuredColumn.of(Integer("household size", lower=lower, upper=100))
    at_lower = Interval(np.array([0.5]), np.array([0.14]), np.array([0.83]))
    none = Interval(np.array([0.0]), np.array([0.0]), np.array([0.01]))
    [note] = bounds.notes(column, (at_lower, none), 0)
    assert note["is_possible"] == is_behind


def test_first_sentences_of_means_say_of_bounds_what_is_certain_alone() -> None:
    unsure = {"bound": "9", "is_upper": True, "share": "at most 31 %", "is_nearly_all": False}
    notes = [unsure | {"is_possible": True}, unsure | {"share": "51 % ± 5", "is_possible": False}]
    finding = {"column": "age", "mean": "4.1 ± 0.2", "at_bounds": notes, "alike": True, "passed_over": 2}
    shown = {"finding": [finding], "cautions": list(means_page._cautions([finding]))}
    text = " ".join(strip_tags(render_to_string("releases/means/_finding.html", {"shown": shown})).split())
    first, further = text.split("What to keep in mind")
    assert "51 % ± 5 are 9 or above" in first and "31 %" not in first and "compared" not in first
    assert "at most 31 % are 9 or above" in further and "51 %" not in further
    assert "2 groups are not compared" in further
