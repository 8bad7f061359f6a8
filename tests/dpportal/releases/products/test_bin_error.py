"""What the bins alone do to means: before anything is spent, on the public page and in the bundle."""

from __future__ import annotations

import datetime as dt
from fractions import Fraction

import numpy as np
import pytest
from django.urls import reverse

from dpportal.releases.products.microdata import usefulness
from dpportal.releases.products.shared.bin_error import MOST_NAMED, in_words
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Boolean, Date, Domain, Integer, Real
from mechanisms.microdata.constraints import Wishes
from tests.dpportal import building
from tests.dpportal.releases.products.building import files, finished, page_of

GAIN = Integer("gain", True, lower=0, upper=99999, width=5000, single_values=(0, 99999))
COLUMNS = Domain(
    (
        Integer("age", lower=17, upper=90),
        GAIN,
        Boolean("ill"),
        Real("dose", lower=0.0, upper=1.0, bins=8),
        Date("since", lower=dt.date(2024, 1, 1), upper=dt.date(2024, 1, 14), step="week"),
    )
)


def test_the_widest_bins_come_first_and_columns_of_single_cells_not_at_all():
    assert in_words(COLUMNS) == ["6 days in since", "0.12 in dose", "4,999 in gain"]


def test_counts_make_it_the_mean_width_and_missing_values_none():
    people = [np.ones(size, dtype=np.int64) for size in COLUMNS.shape]
    people[1] = np.array([917, *[0] * 20, 5, 1000])
    people[1][1] = 78
    assert in_words(COLUMNS, people)[-1] == "390 in gain"


def test_of_many_columns_the_narrowest_are_left_out():
    many = Domain(tuple(Integer(f"x{i}", lower=0, upper=99, width=i) for i in range(2, 20)))
    words = in_words(many)
    assert len(words) == MOST_NAMED + 1 and words[0] == "18 in x19" and words[-1] == "…"


def test_the_verdict_on_rows_says_it():
    plan = registry.microdata("tree-of-pairs").plan(COLUMNS, Wishes(), Loss(Definition.ZCDP, Fraction(1)))
    text = usefulness.expected(plan, 10**6).text
    assert "By the bins alone a mean can be off by up to 6 days in since" in text
    assert "Noise can move a mean by up to" in text and "in age, whatever" not in text


@pytest.mark.slow
def test_page_and_readme_say_it_of_what_was_released(client, dataset):
    """Ages 0 to 99 in ten bins of ten, of which each has its last minus its first value."""
    release = finished(dataset, "histogram", ["age"], "0.5", "laplace-histogram")
    readme = files(release)["README.md"].decode()
    said = "a mean of synthetic values can be off by up to 9 in age"
    assert said in readme and "follow the counts of the bins beside it" in readme
    client.force_login(dataset.owner)
    assert "can be off by up to 9 in age" in page_of(client, release)


def test_the_review_says_it_before_anything_is_spent(client, dataset):
    draft = building.complete_draft(dataset)
    client.force_login(dataset.owner)
    page = client.get(reverse("releases:review", args=[draft.pk])).content.decode()
    assert "Means, by the bins alone" in page and "Off by up to 9 in age, whatever the noise" in page
