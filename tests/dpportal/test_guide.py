"""The guide's worked examples say what the mechanisms do."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from django.test import Client

from dpportal.approvals.services import IN_HAND_DAYS
from dpportal.budgets import odds
from dpportal.budgets.models import Budget
from dpportal.publications import verdict
from dpportal.releases.products.histogram.usefulness import BLOCKS
from dpportal.releases.products.means.planner import RANGES
from dpportal.releases.products.selection.verdict import LEADS, NEAR_RANKS
from dpportal.releases.products.summary.planner import SHARES
from mechanisms.accounting import Definition, Loss
from mechanisms.microdata.pair_levels import GOOD, ROUGH
from mechanisms.selection import FewestConflicts, PermuteAndFlip

ROOT = Path(__file__).resolve().parents[2]
DATES = ("4 May", "11 May", "18 May", "25 May")
CONFLICTS = np.array([5, 1, 3, 6])
ANA = np.array([1, 0, 0, 1])


def chances(epsilon: str, conflicts: np.ndarray) -> list[str]:
    """In percent, as the page writes them."""
    plan = PermuteAndFlip().plan(FewestConflicts(DATES), Loss(Definition.PURE, Fraction(epsilon)), 1)
    return [f"{100 * chance:.1f}" for chance in PermuteAndFlip().probabilities(plan, -conflicts)]


@pytest.fixture
def page(client: Client) -> str:
    return client.get("/guide/choice/").content.decode()


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
def test_the_dates_have_the_chances_of_permute_and_flip(page: str, epsilon: str) -> None:
    cells = "".join(f'<td class="number">{chance}</td>' for chance in [epsilon, *chances(epsilon, CONFLICTS)])
    assert f"<tr>{cells}</tr>" in page


@pytest.mark.parametrize("conflicts", [CONFLICTS, CONFLICTS - ANA], ids=["with Ana", "without"])
def test_the_picture_has_the_chances_with_and_without_ana(page: str, conflicts: np.ndarray) -> None:
    assert all(f">{chance} %</text>" in page for chance in chances("0.5", conflicts))


def test_ten_times_the_people_need_a_tenth_of_the_cost() -> None:
    assert chances("0.05", 10 * CONFLICTS) == chances("0.5", CONFLICTS)


def test_the_tables_conflicts_are_those_counted_below_it(page: str) -> None:
    assert page.count("<td>cannot</td>") == CONFLICTS.sum()


def test_the_tests_that_are_said_to_prove_what_is_protected_are_there(client: Client) -> None:
    named = re.findall(r"<code>(tests/[^<]+)</code>", client.get("/guide/protection/").text)
    assert len(named) >= 15 and all((ROOT / name).exists() for name in named)


def test_the_page_of_what_is_protected_has_the_limits_that_hold(client: Client) -> None:
    text = " ".join(client.get("/guide/protection/").text.split())
    delta = Budget._meta.get_field("delta_exponent").default
    said = (
        f"no request for {IN_HAND_DAYS} days",
        f"notices it for {IN_HAND_DAYS} days",
        f"From ε = {odds.WARNED:g} on the page warns, from ε = {odds.CONFIRMED_TWICE:g} on it asks twice",
        f"with δ at {in_powers(delta)} unless",
    )
    assert [each for each in said if each not in text] == []


def in_powers(exponent: int) -> str:
    return "10⁻" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(exponent))


def test_the_guide_says_when_each_product_is_useful(client: Client) -> None:
    """The limits that the page has are those that products judge by."""
    page = " ".join(client.get("/guide/").text.partition('id="useful"')[2].partition("</section>")[0].split())
    first, *lines = page.split("<li>")
    said = [[int(number) for number in re.findall(r"(\d+)(?= %| points|\.)", line)] for line in lines]
    cells, sums, means, summary, answers, choices, rows = said
    assert [cells[0], cells[-1]] == rows[:2] == [round(100 * share) for share in verdict.SHARES]
    assert rows[2:] == [round(100 * share) for share in (GOOD, ROUGH)]
    for words in (
        "at most 10 % of the count, such as 120 ± 12",
        "up to a third, such as 36 ± 12",
        "count itself",
    ):
        assert words in first
    assert verdict.MARGINS == (0.1, 1 / 3, 1)
    assert sums == answers == [] and BLOCKS == (1 / 20, 1 / 4)
    assert means == [round(100 * share) for share in RANGES]
    assert summary == [2, *means] and SHARES == RANGES
    leads = [round(100 * ratio) for ratio in LEADS]
    ranks = [round(100 * NEAR_RANKS * ratio / LEADS[0]) for ratio in LEADS]
    assert [number for number in choices if number != 95] == leads + ranks
