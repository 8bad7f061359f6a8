"""The first sentence of a public page: how many people, how sure, and where most of them are."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from dpportal.releases.models import Release
from dpportal.releases.products.histogram.page import page
from mechanisms.accounting import Definition, Loss
from mechanisms.box_queries import CellSum
from mechanisms.domain import Categorical, Domain, Integer
from mechanisms.histogram.noisy import LaplaceHistogram
from mechanisms.protocol import Result
from tests.dpportal.markup import folded
from tests.dpportal.releases.products.building import finished


def sentence(client, release: Release) -> str:
    client.force_login(release.created_by)
    text = client.get(reverse("releases:public", args=[release.pk])).content.decode()
    found = re.search('<p class="finding">(.*?)</p>', text, re.DOTALL)
    assert found
    return " ".join(re.sub("<[^>]*>", "", found[1]).split())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["laplace-histogram", "hierarchical-histogram"])
def test_the_total_has_the_margin_of_all_cells_together(client, dataset, method):
    """As the page that adds up cells says it."""
    release = finished(dataset, "histogram", ["age"], "1", method)
    text = sentence(client, release)
    asked = client.get(reverse("releases:explore", args=[release.pk]), {"pick-asked": "1"})
    found = asked.context["explored"]
    assert text.startswith(
        f"{max(0, round(found.estimate)):,} ± {np.ceil(found.half_width):,.0f} people, by age."
    )


def test_the_largest_group_is_named_with_its_margin_where_noise_leaves_no_doubt():
    domain = Domain(
        (Categorical("colour", values=("red", "blue"), closed=True), Integer("age", lower=0, upper=9))
    )
    plan = LaplaceHistogram().plan(domain, {}, Loss(Definition.PURE, Fraction(1)))
    raw = np.full(20, 10)
    raw[13] = 500
    finding = page(plan, Result(raw=raw, counts=raw), None)["finding"]
    assert (finding["largest"], finding["count"], finding["count_margin"]) == ("colour blue, age 3", 500, 3)


def test_names_of_columns_are_read_aloud():
    domain = Domain(
        (Categorical("Person: sex", values=("f", "m"), closed=True), Integer("birth_year", lower=0, upper=9))
    )
    plan = LaplaceHistogram().plan(domain, {}, Loss(Definition.PURE, Fraction(1)))
    counts = np.full(20, 10)
    assert (
        page(plan, Result(raw=counts, counts=counts), None)["finding"]["columns"]
        == "Person: sex and birth year"
    )


def test_two_are_named_of_which_one_is_certainly_the_largest():
    plan = LaplaceHistogram().plan(
        Domain((Integer("dep_hour", lower=0, upper=23),)), {}, Loss(Definition.PURE, Fraction(1))
    )
    raw = np.full(24, 10)
    raw[[8, 17]] = 501, 500
    shown = {"finding": page(plan, Result(raw=raw, counts=raw), None)["finding"]}
    text = render_to_string("releases/_finding.html", {"shown": shown, "plan": plan})
    assert "The largest group is dep hour 8, with 501, or dep hour 17, with 500, each ± 3." in folded(text)
    raw[3] = 497
    three = page(plan, Result(raw=raw, counts=raw), None)["finding"]
    assert three["alike"] and "leading" not in three


@pytest.mark.slow
def test_where_noise_can_explain_all_of_the_table_no_group_is_the_largest(client, dataset):
    noisy = finished(dataset, "histogram", ["colour", "age"], "0.01", "laplace-histogram")
    assert sentence(client, noisy).endswith("No group is certainly the largest.")


def test_where_no_cell_is_certainly_the_largest_a_single_column_may_be():
    """Women are 2,000 and men 1,000, in ages that all have the same number."""
    sex = Categorical("sex", values=("f", "m"), closed=True)
    domain = Domain((Integer("age", lower=0, upper=9), sex))
    plan = LaplaceHistogram().plan(domain, {}, Loss(Definition.PURE, Fraction("0.1")))
    raw = np.tile([200, 100], 10)
    result = Result(raw=raw, counts=raw, half_width=None)
    asked = []

    def summed(picks):
        asked.append([len(places) for places in picks])
        return CellSum(0.0, 90.0, 10)

    finding = page(plan, result, None, summed)["finding"]
    assert (finding["column"], finding["largest_value"]) == ("sex", "f") and asked == [[1, 2], [10, 1]]
    assert (finding["count"], finding["count_margin"]) == (2000, 90)
    unsure = page(plan, result, None, lambda picks: CellSum(0.0, 900.0, 10))["finding"]
    assert unsure["alike"] and "largest_value" not in unsure


@pytest.mark.slow
def test_without_a_margin_the_total_is_about(client, dataset):
    release = finished(dataset, "histogram", ["age"], "1", "dawa-histogram")
    assert sentence(client, release).startswith("About ")
