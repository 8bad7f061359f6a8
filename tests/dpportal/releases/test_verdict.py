"""Nobody publishes a useless release without having been told: on review, beside the truth, and before publishing."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from django.urls import reverse

from dpportal.accounts.models import AuditEntry
from dpportal.datasets import records
from dpportal.publications.verdict import Verdict, VerdictLevel, is_doubted, level_of_cells, of_answers
from dpportal.releases import execution
from dpportal.releases.models import Release
from dpportal.releases.products import presenter_of
from dpportal.releases.products.histogram import usefulness
from dpportal.releases.products.queries.usefulness import expected
from mechanisms import registry
from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain, Integer
from mechanisms.evaluate import observed_error
from mechanisms.matrix.workload.factor import Explicit
from mechanisms.matrix.workload.text import read_workload
from mechanisms.matrix.workload.union import Term, Workload
from mechanisms.noise import Noise
from tests.dpportal import building


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def histogram_plan(
    amount: str, cells: int, definition: Definition = Definition.PURE, method: str = "laplace"
):
    domain = Domain((Integer("x", lower=1, upper=cells),))
    loss = Loss(definition, Fraction(amount))
    return registry.mechanism(f"{method}-histogram").plan(domain, {}, loss)


@pytest.mark.parametrize("amount", ["0.02", "0.1", "1"])
def test_the_share_that_is_foreseen_is_what_releases_have(amount):
    """Mean over 300 releases of 200 cells; its standard error is below 1 % of the share."""
    plan, true = histogram_plan(amount, 200), np.full(200, 25)
    mechanism, noise = registry.mechanism(plan.mechanism), Noise()
    seen = np.mean(
        [
            observed_error(true, mechanism.measure(plan, true, noise).values, 0).total_variation
            for _ in range(300)
        ]
    )
    said = re.search(r"misplace (?:about )?(\d+) %", usefulness.expected(plan, 5000, "cells").text)
    assert said and int(said[1]) == pytest.approx(min(100, 100 * seen), rel=0.05, abs=0.6)


def test_a_histogram_is_useful_only_if_its_typical_cell_is_too():
    """36 people ± 21 in a typical cell is 58 % of it, though noise misplaces less than 10 % of the people."""
    doubtful = usefulness.expected(histogram_plan("0.143", 100), 3600, "cells")
    assert doubtful.level is VerdictLevel.DOUBTFUL and "36, ± 21" in doubtful.text
    assert level_of_cells(0.098, 21 / 36) is VerdictLevel.DOUBTFUL
    useful, coarse, *worse = VerdictLevel
    assert [level_of_cells(share, 0.1) for share in (0.1, 0.3, 0.31)] == [useful, *worse]
    assert [level_of_cells(0.05, ratio) for ratio in (0.1, 1 / 3, 1, 1.01)] == [useful, coarse, *worse]


def test_a_third_more_or_less_is_coarse_and_published_without_a_further_question():
    """36 people ± 12 is no count to rely on, and still shows who is twice as many."""
    coarse = usefulness.expected(histogram_plan("0.25", 100), 3600, "cells")
    assert coarse.level is VerdictLevel.COARSE and "36, ± 12" in coarse.text and not is_doubted(coarse)
    assert of_answers(12, 36, "A count").level is VerdictLevel.COARSE


@pytest.mark.parametrize("definition", Definition, ids=lambda d: d.value)
@pytest.mark.parametrize("purpose", ["cells", "ranges"])
@pytest.mark.parametrize("amount", ["0.0001", "0.001", "0.01"])
def test_at_the_cost_that_is_named_it_is_useful_and_below_it_is_not(definition, purpose, amount):
    method = "laplace" if definition is Definition.PURE else "gaussian"
    verdict = usefulness.expected(histogram_plan(amount, 500, definition, method), 2000, purpose)
    named = verdict.amount(Decimal(amount), definition)
    assert not verdict.is_useful and named is not None
    at, below = (
        usefulness.expected(histogram_plan(str(cost), 500, definition, method), 2000, purpose)
        for cost in (named, named * Decimal("0.7"))
    )
    assert at.is_useful
    assert not below.is_useful


@pytest.mark.parametrize("method", ["laplace", "gaussian", "dawa"])
@pytest.mark.parametrize("amount", ["0.05", "0.2", "1"])
def test_the_cost_that_is_named_does_not_depend_on_the_one_at_hand(method, amount):
    """8,500 cells, 4,000 people: a tenth of 0.47 people is less than one, so 95 % of the cells must have no noise.

    Laplace noise is 0 with probability (1 - q)/(1 + q), q = exp(-ε), which is 0.95 at 3.66; Gaussian noise with about
    1/(1 + 2q), q = exp(-ρ), which is 0.95 at 3.64.
    """
    definition = Definition.ZCDP if method == "gaussian" else Definition.PURE
    verdict = usefulness.expected(histogram_plan(amount, 8500, definition, method), 4000, "cells")
    named = verdict.amount(Decimal(amount), definition)
    assert named == Decimal("3.7")


def test_plain_noise_is_named_alike_whatever_method_it_stands_for():
    """At ε = 0.05 a cell is ± 60, not the ± 55 of a normal law with that variance."""
    said = usefulness.expected(histogram_plan("0.05", 400, method="dawa"), 50, "cells").text
    assert "± 60." in said
    assert "± 60." in usefulness.expected(histogram_plan("0.05", 400), 50, "cells").text


def test_a_sum_that_is_said_to_stand_out_does():
    """Twice half its interval, by the noise of independent cells: 1.96 √(block) σ."""
    plan = histogram_plan("0.1", 400)
    text = usefulness.expected(plan, 20_000, "ranges").text
    block = int(text.split("about ")[1].split(" ")[0])
    sigma = plan.standard_error
    assert 50 * block >= 2 * 1.96 * sigma * block**0.5
    assert 50 * (block - 1) < 2 * 1.96 * sigma * (block - 1) ** 0.5


@pytest.mark.parametrize("purpose", ["cells", "ranges"])
@pytest.mark.parametrize("name", ["dawa-histogram", "chosen-histogram"])
def test_a_method_whose_error_depends_on_the_data_is_useless_only_where_all_are(name, purpose):
    """A count is ± 150 at ε = 0.02: of 1,000 people four cells with 250 each would show, of 120 people none."""
    domain = Domain((Integer("x", lower=1, upper=400),))
    loss = Loss(Definition.PURE, Fraction("0.02"))
    plan, plain = (registry.mechanism(each).plan(domain, {}, loss) for each in (name, "laplace-histogram"))
    verdict = usefulness.expected(plan, 1000, purpose)
    assert verdict.level is VerdictLevel.DOUBTFUL and "depends on the data" in verdict.text
    assert usefulness.expected(plain, 1000, purpose).is_useless
    hopeless, same = (usefulness.expected(each, 120, purpose) for each in (plan, plain))
    assert hopeless.is_useless and hopeless.text == same.text and hopeless.calmer > 1


def test_a_cost_is_named_with_two_digits_rounded_up():
    assert Verdict(VerdictLevel.USELESS, "", 3.21).amount(Decimal("0.1"), Definition.PURE) == Decimal("0.33")
    assert Verdict(VerdictLevel.USELESS, "", 3.21).amount(Decimal("0.1"), Definition.ZCDP) == Decimal("1.1")
    assert Verdict(VerdictLevel.USEFUL, "").amount(Decimal("0.1"), Definition.PURE) is None


def test_the_levels_of_answers():
    levels = [of_answers(half, 100, "A count").level for half in (10, 33, 100, 101)]
    assert levels == list(VerdictLevel)


def test_a_typical_answer_is_that_of_people_spread_evenly():
    domain = Domain((Integer("x", lower=1, upper=5), Integer("y", lower=1, upper=4)))
    for text in ('prefix("x") x identity("y") + total', "marginals(<=2)", '3 * identity("x") + ranges("y")'):
        workload = read_workload(text, domain)
        answers = workload.answers(np.ones(20))
        weights = np.concatenate([np.full(t.queries, t.weight) for t in workload.terms])
        sizes = weights * answers
        assert workload.even_sizes == pytest.approx((np.median(sizes), sizes.min()))


def test_answers_about_large_ranges_do_not_hide_that_small_ones_are_noise():
    """All ranges of 74 ages of 32,519 people: the middle one holds 22 ages, 9,668 people; one age 439.

    At ± 1,319 a single age would be noise; a third of it is ± 146.
    """
    workload = read_workload('ranges("x")', Domain((Integer("x", lower=17, upper=90),)))
    loud, calm = (expected(half, 32_519, workload, "people") for half in (966, 146))
    assert (loud.level, calm.level) == (VerdictLevel.COARSE, VerdictLevel.USEFUL)
    assert loud.typical.name == "the smallest answer" and "The smallest is 439." in loud.text
    useless = expected(10_000, 32_519, workload, "people")
    assert useless.is_useless and 10_000 / useless.calmer == 966 / loud.calmer <= 439 / 3


def test_answers_that_are_differences_have_no_size():
    matrix = Explicit(np.array([[1.0, -1.0], [1.0, 1.0]]))
    workload = Workload((2,), (Term(1.0, {0: matrix}),), "")
    assert workload.even_sizes == (2.0, 2.0)
    assert Workload((2,), (Term(1.0, {0: Explicit(np.array([[1.0, -1.0]]))}),), "").even_sizes == (0.0, 0.0)


def review(desk, release: Release) -> str:
    return desk.get(reverse("releases:review", args=[release.pk])).content.decode()


def test_the_review_warns_of_a_useless_release_and_leads_to_a_better_one(desk, draft):
    Release.objects.filter(pk=draft.pk).update(people=300, amount=Decimal("0.001"))
    page = review(desk, draft)
    assert "Expected: useless." in page and "Most cells would hold noise only." in page
    Release.objects.filter(pk=draft.pk).update(people=10**6, amount=Decimal("0.1"))
    assert "Expected: useful." in review(desk, draft)


@pytest.mark.slow
def test_the_offered_cost_is_in_the_dial(desk, draft):
    page = desk.get(reverse("releases:method", args=[draft.pk]) + "?amount=0.37").content.decode()
    assert 'value="0.37"' in page
    wrong = desk.get(reverse("releases:method", args=[draft.pk]) + "?amount=lots")
    assert wrong.status_code == 200


def released(draft: Release, amount: str) -> Release:
    Release.objects.filter(pk=draft.pk).update(amount=Decimal(amount))
    draft.refresh_from_db()
    assert building.confirm(draft)
    execution.RELEASES.run(draft.pk)
    draft.refresh_from_db()
    return draft


@pytest.mark.slow
def test_a_useless_release_is_not_published_without_a_word(desk, draft):
    release = released(draft, "0.0001")
    address = reverse("releases:publish", args=[release.pk])
    assert "Expected: useless." in desk.get(address).content.decode()
    assert "Useless." in desk.get(reverse("releases:compare", args=[release.pk])).content.decode()
    assert "publish it all the same" in desk.get(address).content.decode()
    refused = desk.post(address)
    assert refused.status_code == 422
    release.refresh_from_db()
    assert release.published_at is None
    desk.post(address, {"all_the_same": "on"})
    release.refresh_from_db()
    assert release.published_at is not None


@pytest.mark.slow
def test_a_useful_one_is_published_with_one_press(desk, draft):
    Release.objects.filter(pk=draft.pk).update(people=3000)
    release = released(draft, "0.9")
    address = reverse("releases:publish", args=[release.pk])
    page = desk.get(address).content.decode()
    assert "publish it all the same" not in page and "Expected: useful." in page
    desk.post(address)
    release.refresh_from_db()
    assert release.published_at is not None


@pytest.mark.slow
def test_what_the_truth_says_is_for_its_curator_alone(client, other_curator, desk, draft):
    release = released(draft, "0.9")
    desk.get(reverse("releases:compare", args=[release.pk]))
    assert AuditEntry.objects.filter(action="viewed true counts").count() == 1
    desk.post(reverse("releases:publish", args=[release.pk]))
    public = client.get(release.get_absolute_url()).content.decode()
    assert "Useful." not in public and "than in truth" not in public
    client.force_login(other_curator)
    assert client.get(reverse("releases:publish", args=[release.pk])).status_code == 404


@pytest.mark.slow
def test_every_product_judges_its_own_comparison(draft):
    release = released(draft, "0.5")
    comparison = records.comparison(release.dataset_id, release.pk)
    assert comparison is not None
    verdict = presenter_of(release).verdict(comparison)
    share = comparison["errors"]["total_variation"]["counts"]
    assert verdict is not None and verdict.is_useful == (share <= 0.1)
