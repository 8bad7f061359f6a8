"""What readers add up on a public page: the right cells, the right sum, an interval, and a sentence for odd picks."""

from __future__ import annotations

import datetime as dt
import io
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from django.http import QueryDict
from django.urls import reverse

from dpportal.releases import services
from dpportal.releases.execution import RELEASES
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan
from dpportal.releases.products.histogram.page import most_apart
from dpportal.releases.products.shared.explorer import PickForm, explored
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Categorical, Date, Domain, Integer, Real
from mechanisms.histogram.box_sums import half_width_apart, plain_sum
from mechanisms.histogram.noisy import LaplaceHistogram
from tests.dpportal import building


def finished(draft: Release) -> Release:
    building.confirm(draft)
    RELEASES.run(draft.pk)
    release = Release.objects.get(pk=draft.pk)
    services.publish(release, release.created_by)
    return release


def page(client, release: Release, query: str):
    answer = client.get(f"{reverse('releases:explore', args=[release.pk])}?{query}")
    assert answer.status_code == 200
    return answer


def cells(client, release: Release, name: str = "histogram.csv") -> pd.DataFrame:
    answer = client.get(reverse("releases:download", args=[release.pk, name]))
    return pd.read_csv(io.BytesIO(b"".join(answer.streaming_content)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", ["laplace-histogram", "hierarchical-histogram", "privelet-histogram", "dawa"]
)
def test_a_reader_gets_the_sum_of_the_published_counts(client, draft, method):
    draft.mechanism = {"dawa": "dawa-histogram"}.get(method, method)
    draft.save()
    release = finished(draft)
    found = page(client, release, "pick-in-0=0&pick-in-0=2&pick-from-1=3&pick-to-1=5").context["explored"]
    table = cells(client, release).set_index("colour").loc[["red", "blue"]]
    ages = table[table["age"].isin(["30–39", "40–49", "50–59"])]
    assert found.cells == len(ages) == 6
    assert found.estimate == pytest.approx(ages["noisy_count"].sum(), abs=1e-3)
    assert (found.half_width is None) == (method == "dawa")


@pytest.mark.slow
def test_a_sum_without_an_interval_says_why(client, draft):
    draft.mechanism = "dawa-histogram"
    draft.save()
    text = page(client, finished(draft), "pick-in-0=1").text
    assert "no margin can be stated" in text
    assert "<dt>Estimated count, without a margin</dt>" in text and "<dt>Noisy count</dt>" not in text


@pytest.mark.slow
def test_the_public_page_asks_and_the_answer_has_a_page_of_its_own(client, draft):
    release = finished(draft)
    assert (
        f'action="{reverse("releases:explore", args=[release.pk])}"'
        in client.get(release.get_absolute_url()).text
    )
    services.withdraw(release, release.created_by)
    assert client.get(reverse("releases:explore", args=[release.pk])).status_code == 410


@pytest.mark.slow
def test_with_nothing_picked_all_cells_are_added(client, draft):
    release = finished(draft)
    found = page(client, release, "pick-asked=1").context["explored"]
    assert (found.cells, found.estimate) == (
        release.domain_version.domain().size,
        cells(client, release)["noisy_count"].sum(),
    )


@pytest.mark.slow
def test_the_margin_stands_behind_the_estimate(client, draft):
    answer = page(client, finished(draft), "pick-in-0=1")
    found = answer.context["explored"]
    assert f"± {found.half_width:,.0f}" in answer.text
    assert "colour: green" in answer.text and "<dt>Noisy count</dt>" in answer.text


@pytest.mark.slow
@pytest.mark.parametrize(
    "query, told",
    [
        ("pick-from-1=5&pick-to-1=3", "ends before it begins"),
        ("pick-from-1=99", "Select a valid choice"),
        ("pick-in-0=red", "Select a valid choice"),
        ("pick-from-1=%00", "Select a valid choice"),
    ],
)
def test_a_pick_that_cannot_be_gets_a_sentence(client, draft, query, told):
    answer = page(client, finished(draft), query)
    assert told in answer.text
    assert "explored" not in answer.context


def test_two_picks_are_compared_with_the_margin_of_what_is_in_one_of_them_alone():
    """Cells of both cancel: 3 of the first and 2 of the second are left, each with the same noise."""
    domain = Domain((Categorical("colour", values=("red", "green", "blue"), closed=True), Boolean("works")))
    counts = np.array([50, 40, 5, 6, 7, 9])
    plan = LaplaceHistogram().plan(domain, {}, Loss(Definition.PURE, Fraction(1)))

    def shown(query: str):
        method = LaplaceHistogram()
        return explored(
            domain,
            QueryDict(query),
            lambda picks: method.cell_sum(plan, counts, picks),
            difference=lambda first, second: method.cell_difference(plan, counts, first, second),
        )

    alone = shown("pick-in-0=0")
    assert alone["explorer_first"] == [("first-in-0", "0")] and "difference" not in alone
    asked = shown("first-in-0=0&first-in-0=1&pick-in-0=1&pick-in-0=2&compare=1")
    between = asked["difference"]
    assert (between.estimate, between.cells) == (90 - 16, 4) and asked["is_certain"]
    assert (asked["first_explored"].estimate, asked["explored"].estimate) == (101, 27)
    assert between.half_width == plain_sum(plan, counts, [np.arange(2), np.arange(2)]).half_width
    assert not shown("first-in-0=1&pick-in-0=2&compare=1")["is_certain"]
    assert shown("first-in-0=1&pick-in-0=1&compare=1")["difference"].cells == 0
    assert "difference" not in shown("first-in-0=9&pick-in-0=1&compare=1")


@pytest.mark.slow
def test_a_page_says_whether_two_groups_differ(client, draft):
    release = finished(draft)
    first = page(client, release, "pick-in-0=1")
    assert '<input type="hidden" name="first-in-0" value="1">' in first.text
    answer = page(client, release, "first-in-0=1&pick-in-0=2&compare=1")
    table = cells(client, release).groupby("colour")["noisy_count"].sum()
    assert answer.context["difference"].estimate == table["green"] - table["blue"]
    is_beyond = "They differ beyond the margin" in answer.text
    assert is_beyond == answer.context["is_certain"]
    assert is_beyond or "it can be noise alone" in answer.text
    public = client.get(release.get_absolute_url())
    apart = half_width_apart(confirmed_plan(release))
    text = " ".join(public.text.split())
    assert "Two groups that you picked before you saw their counts differ" in text
    assert f"more than {apart} apart (95 %)" in text
    assert f"more than {most_apart(confirmed_plan(release))} above every other (95 %)" in text


MANY = Domain(
    (
        Integer("income", lower=-500, upper=999_499, width=10, missing_cell=True),
        Date("day", lower=dt.date(2000, 1, 1), upper=dt.date(2003, 12, 31), step="day"),
        Categorical("code", values=tuple(f"c{i}" for i in range(900)), closed=True),
        Boolean("works"),
    )
)


def picks(query: str):
    form = PickForm(MANY, QueryDict(query))
    return form.picks if form.is_valid() else form.errors


def test_of_a_column_of_very_many_cells_values_are_typed():
    income, day, code, works = picks(
        "pick-from-0=-491&pick-to-0=-475&pick-missing-0=with&pick-from-1=2000-01-31&pick-in-2=c7%0Ac3&pick-in-3=1"
    )
    assert income.tolist() == [0, 1, 2, 99_999 + 1]
    assert (day[0], day[-1]) == (30, 3 * 365 + 366 - 1)
    assert (code.tolist(), works.tolist()) == ([3, 7], [1])


STYLES = Path(__file__).resolve().parents[4] / "static" / "css" / "portal.css"
AGED = Domain((Integer("age", lower=0, upper=99, width=25, missing_cell=True),))


@pytest.mark.parametrize("ends", ["", "pick-from-0=0&pick-to-0=3&"])
@pytest.mark.parametrize("said, cells", [("with", 5), ("left-out", 4), ("", None)])
def test_those_without_a_value_count_as_is_said(ends, said, cells):
    cells = cells or (4 if ends else 5)
    form = PickForm(AGED, QueryDict(f"{ends}pick-missing-0={said}"))
    assert form.is_valid() and form.picks[0].tolist() == list(range(cells))


def test_missing_values_are_asked_for_in_short_words():
    """“Those without a value” stood in a column of three letters, and broke into four lines."""
    [column] = PickForm(AGED, QueryDict()).columns()
    field = next(field for field in column.fields if field.name.startswith("missing"))
    assert field.label == "Missing values"
    assert [str(text) for _value, text in field.field.choices][1:] == ["include", "exclude", "only"]
    assert "minmax(3rem, max-content)" in STYLES.read_text()


def test_those_without_a_value_can_be_asked_for_alone():
    form = PickForm(AGED, QueryDict("pick-missing-0=alone"))
    assert form.is_valid() and form.picks[0].tolist() == [4]
    assert not PickForm(AGED, QueryDict("pick-missing-0=alone&pick-from-0=1")).is_valid()


def test_a_value_beyond_the_bounds_is_in_the_last_cell():
    assert picks("pick-from-0=5000000")[0].tolist() == [99_999]
    assert picks("pick-to-0=-9999")[0].tolist() == [0]


@pytest.mark.parametrize(
    "query", ["pick-from-0=much", "pick-from-1=spring", "pick-in-2=c7%0Anone", "pick-from-0=1e999"]
)
def test_what_cannot_be_read_is_said(query):
    assert isinstance(picks(query), dict)


@pytest.mark.slow
def test_answers_to_queries_are_added_up_by_cells(client, dataset):
    draft = building.complete_draft(dataset)
    draft.product, draft.mechanism = "queries", "identity-strategy"
    draft.parameters = {"workload": 'identity("colour") x ranges("age")'}
    draft.save()
    release = finished(draft)
    found = page(client, release, "pick-in-0=0").context["explored"]
    table = cells(client, release, "cells.csv")
    expected = table[table["colour"] == "red"]["estimate"].sum()
    assert found.estimate == pytest.approx(expected, rel=1e-4, abs=0.01)
    assert found.half_width > 0
    assert np.isfinite(found.half_width)


@pytest.mark.parametrize(
    ("said", "picked"),
    [
        ("pick-from-0=0&pick-to-0=0", [0]),
        ("pick-from-0=0.001&pick-to-0=0.5", [1]),
        ("pick-from-0=499.5&pick-to-0=500", [500, 501]),
    ],
)
def test_a_typed_number_is_in_the_cell_of_its_own_where_it_has_one(said, picked):
    column = Real("x", lower=0.0, upper=500.0, bins=500, single_values=(0.0, 500.0))
    form = PickForm(Domain((column,)), QueryDict(said))
    assert form.is_valid() and form.picks[0].tolist() == picked
