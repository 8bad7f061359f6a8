"""Readers' sums of the largest releases take little memory and few steps; of larger ones the page says why not.

What is done is counted, not timed: calls of functions, and the bytes that arrays take at once.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string
from django.test import Client
from django.urls import reverse

from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan, presenter_of
from dpportal.releases.products.queries import page_limits
from dpportal.releases.products.shared import explorer
from mechanisms.matrix.answering import _strategy
from tests.dpportal.releases.products import largest
from tests.dpportal.test_public_work import MOST_CALLS, calls

MEGABYTE = 2**20


def most_bytes(work: Callable[[], Any]) -> int:
    """How much memory is held at once beside what was held before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def explored(release: Release, question: str) -> Any:
    return presenter_of(release).explore(release, confirmed_plan(release), QueryDict(question))


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism, cells, megabytes",
    [
        ("laplace-histogram", explorer.MAX_CELLS, 80),
        ("hierarchical-histogram", explorer.MAX_ESTIMATED_CELLS, 12),
        ("privelet-histogram", explorer.MAX_ESTIMATED_CELLS, 12),
    ],
)
def test_a_sum_of_cells(dataset, mechanism, cells, megabytes) -> None:
    release = largest.histogram(dataset, mechanism, cells)
    address = f"{reverse('releases:explore', args=[release.pk])}?pick-from-0=3&pick-to-0={cells - 5}"
    visitor = Client()
    answer = visitor.get(address)
    assert answer.context["explored"].cells == cells - 7
    assert calls(lambda: visitor.get(address)) < MOST_CALLS
    assert most_bytes(lambda: visitor.get(address)) < megabytes * MEGABYTE


@pytest.mark.slow
def test_two_sums_of_cells_compared(dataset) -> None:
    """In memory that a set of all places would not fit in."""
    cells = explorer.MAX_CELLS
    release = largest.histogram(dataset, "laplace-histogram", cells)
    picks = f"pick-from-0=3&pick-to-0={cells - 5}&first-from-0=9&first-to-0={cells - 90}&compare=1"
    address = f"{reverse('releases:explore', args=[release.pk])}?{picks}"
    visitor = Client()
    assert "difference" in visitor.get(address).context
    assert most_bytes(lambda: visitor.get(address)) < 120 * MEGABYTE


@pytest.mark.slow
def test_no_page_waits_for_the_inverse_of_a_large_strategy(dataset) -> None:
    """Nor is the strategy built to find that out."""
    text = 'prefix("age") + identity("age")'
    fields = {"product": "queries", "mechanism": "workload-strategy", "parameters": {"workload": text}}
    release = largest.confirmed(dataset, page_limits.MAX_TIED + 1, **fields)
    _strategy.cache_clear()
    shown = explored(release, "pick-from-0=3&sum=1")
    assert "depends on 1,025 cells at once" in shown["explorer_refusal"]
    assert shown["combination_refusal"] == shown["explorer_refusal"]
    assert _strategy.cache_info().misses == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism, limit",
    [
        ("laplace-histogram", explorer.MAX_CELLS),
        ("hierarchical-histogram", explorer.MAX_ESTIMATED_CELLS),
    ],
)
def test_of_more_cells_the_page_says_why_none_is_worked_out(dataset, mechanism, limit) -> None:
    release = largest.histogram(dataset, mechanism, limit + 1)
    shown = explored(release, "pick-from-0=3")
    assert f"of up to {limit:,}" in render_to_string("releases/_add_up.html", shown)
    assert Client().get(reverse("releases:explore", args=[release.pk])).status_code == 404


@pytest.mark.slow
def test_a_sum_of_two_answers_of_half_a_million(dataset) -> None:
    labels = (f"age from {start}" for start in range(1000 * 1001 // 2))
    release = largest.answers(dataset, 1000, 'ranges("age")', labels)
    shown = explored(release, "sum=1%2B500500")["combination"]
    assert [part["query"] for part in shown["parts"]] == ["age from 0", "age from 500499"]
    # Wᵀw of this sum is 1 in the first cell and in the last, and each was measured with noise of its own.
    plan = confirmed_plan(release)
    assert shown["standard_error"] == pytest.approx((2 * plan.noise.variance) ** 0.5)
    many = "sum=" + "%2B".join(map(str, range(1, 500_500, 2_600)))
    assert len(explored(release, many)["combination"]["parts"]) == 193
    assert calls(lambda: explored(release, many)) < MOST_CALLS


@pytest.mark.slow
def test_of_more_answers_the_page_says_why_none_is_worked_out(dataset, monkeypatch) -> None:
    release = largest.answers(dataset, 10, 'identity("age")', map(str, range(10)))
    monkeypatch.setattr(page_limits, "MAX_ANSWERS", 9)
    assert "up to 9; this release has 10" in explored(release, "sum=1%2B2")["combination_refusal"]


LABELS = ["red", "two\nlines", 'a "quoted", one', "three\n\nlines", "größer"] * 40


@pytest.mark.slow
def test_every_answer_is_found_by_its_number(dataset) -> None:
    """Also where a value holds a line break, so that a line of the file is not a line of the table."""
    release = largest.answers(dataset, len(LABELS), 'identity("age")', LABELS)
    for number, label in enumerate(LABELS, start=1):
        [part] = explored(release, f"sum={number}")["combination"]["parts"]
        assert part["query"] == label


@pytest.mark.slow
def test_an_answer_that_another_hides_is_not_mistaken_for_it(dataset) -> None:
    """A value with a line break and a number behind it looks like the beginning of an answer."""
    release = largest.answers(dataset, 9, 'identity("age")', ["a", "b", "c\n9,d", *"efghij"])
    for number, label in [(1, "a"), (9, "j")]:
        shown = explored(release, f"sum={number}")
        parts = shown.get("combination", {"parts": [{"query": label}]})["parts"]
        assert parts[0]["query"] == label
