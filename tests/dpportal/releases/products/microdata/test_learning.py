"""The classifier of the quality report, on tables whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.releases.products.microdata import assessment, learning
from dpportal.releases.products.microdata.learning import area_under_curve, learned
from mechanisms.domain import Boolean, Categorical, Domain, Integer

DOMAIN = Domain((Integer("age", lower=0, upper=39), Categorical("job", values=("a", "b")), Boolean("ill")))


def table(rows: int, *, dependent: bool) -> np.ndarray:
    """Whoever is 20 or older is ill; or as many are, whatever their age."""
    random = np.random.default_rng(4)
    age = random.integers(0, 40, rows)
    ill = (age >= 20) if dependent else random.permutation(age >= 20)
    return np.column_stack([age, random.integers(0, 2, rows), ill])


def test_the_area_is_the_share_of_pairs_in_order():
    random = np.random.default_rng(1)
    scores, positive = random.integers(0, 6, 60).astype(float), random.random(60) < 0.4
    pairs = [(a, b) for a in scores[positive] for b in scores[~positive]]
    brute = np.mean([1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs])
    assert area_under_curve(scores, positive) == pytest.approx(brute)
    assert area_under_curve(scores, np.zeros(60, dtype=bool)) == 0.5


@pytest.mark.slow
def test_rows_that_keep_the_dependence_teach_it_and_others_do_not():
    pytest.importorskip("sklearn", reason="needs requirements-learning.txt")
    real = table(2000, dependent=True)
    good = learned(DOMAIN, "ill", table(1500, dependent=True), real)
    bad = learned(DOMAIN, "ill", table(1500, dependent=False), real)
    (_r, real_right, real_area), (_s, right, area), (_n, guess, half) = good["lines"]
    assert (real_right, real_area, right, area) == pytest.approx((1, 1, 1, 1), abs=0.01)
    assert guess == pytest.approx(0.5, abs=0.05) and half == 0.5
    assert bad["lines"][1][2] < 0.75
    assert good["trained"] == [1000, 1000] and good["tested"] == 1000


@pytest.mark.parametrize(("target", "question"), [("age", "Beyond"), ("ill", "Which of its")])
def test_a_target_of_many_values_is_halved(target, question):
    pytest.importorskip("sklearn", reason="needs requirements-learning.txt")
    found = learned(DOMAIN, target, table(400, dependent=True), table(800, dependent=True))
    assert found["question"].startswith(question)
    assert found["lines"][0][2] > 0.9


def test_a_missing_value_is_not_beyond_the_others():
    """Of forty ages and the cell of those without one: half of the ages are above the middle one."""
    age = Integer("age", lower=0, upper=39, missing_cell=True)
    cells = np.array([*range(40), *[40] * 60])
    question, labels = learning._question(age, cells)
    assert "“19”" in question
    assert labels(np.array([19, 20, 39, 40])).tolist() == [0, 1, 1, 0]


def test_one_thread_learns(monkeypatch):
    """Several wait for each other while other jobs run."""
    ensemble = pytest.importorskip("sklearn.ensemble", reason="needs requirements-learning.txt")
    from threadpoolctl import threadpool_info

    classifier, seen = ensemble.HistGradientBoostingClassifier, []
    fit = classifier.fit

    def watched(self, *given):
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp")
        return fit(self, *given)

    monkeypatch.setattr(classifier, "fit", watched)
    learned(DOMAIN, "ill", table(60, dependent=True), table(120, dependent=True))
    assert seen and set(seen) == {1}


def test_without_the_extra_or_a_target_it_says_so(monkeypatch):
    rows = table(100, dependent=True)
    assert "lines" not in assessment.assess(DOMAIN, "", rows, rows)["learning"]
    monkeypatch.setattr(learning, "available", lambda: False)
    assert assessment.assess(DOMAIN, "ill", rows, rows)["learning"] == {"target": "ill", "installed": False}


def test_copies_are_seen_by_the_nearest_records():
    real = np.random.default_rng(2).integers(0, 9, (400, 6))
    found = assessment.assess(DOMAIN, "", real[300:], real)["nearest"]
    synthetic, out = zip(*found["lines"], strict=True)
    assert found["probes"] == 100 and found["others"] == 300
    assert synthetic[0] == 1 and out[0] < 0.1
    assert sum(synthetic) == pytest.approx(1) and sum(out) == pytest.approx(1)
