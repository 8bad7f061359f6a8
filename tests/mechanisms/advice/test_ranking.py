"""What the ranking says of the shipped table, and what it never says."""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from mechanisms import registry
from mechanisms.accounting import Definition, Loss, Neighbours, PrivacyUnit
from mechanisms.advice import ranking, table
from mechanisms.advice.answers import PURPOSES
from mechanisms.advice.ranking import rank, strength_of
from mechanisms.domain import Domain, Integer
from mechanisms.noise import DiscreteGaussian

EPSILON_ONE = Loss(Definition.PURE, Fraction(1))


def box(*widths: int) -> Domain:
    return Domain(tuple(Integer(f"x{i}", upper=w - 1) for i, w in enumerate(widths)))


@pytest.mark.parametrize("definition", list(Definition))
@pytest.mark.parametrize("columns", [1, 2])
def test_the_shipped_table_has_every_method_and_a_best_one_in_every_line(
    columns: int, definition: Definition
) -> None:
    trials = table.trials(columns, definition)
    served = {m.name for m in registry.HISTOGRAMS if definition in m.definitions}
    assert trials.cells.size >= 400
    assert not np.isnan(trials.statistics).any()
    for purpose in PURPOSES:
        assert set(trials.ratios[purpose]) <= served
        others = [v for name, v in trials.ratios[purpose].items() if name != "chosen-histogram"]
        least = np.nanmin(others, axis=0)
        assert np.abs(least).max() == 0
        assert table.checked(columns, definition, purpose).tables >= 50


def test_private_cuts_and_clusters_are_never_advised() -> None:
    for definition, shape, people, purpose in product(
        Definition, [(30,), (5000,), (9, 9), (300, 200)], [20, 10**3, 10**5, 10**8], PURPOSES
    ):
        found = rank(registry.HISTOGRAMS, box(*shape), Loss(definition, Fraction(1)), purpose, people).methods
        assert [r.mechanism for r in found[-2:] if not r.advised and not r.as_good]
        assert not any(registry.mechanism(r.mechanism).may_be_advised for r in found[-2:])


@pytest.mark.parametrize("widths", [(1,), (2,), (15,), (1, 1), (5, 3)])
@pytest.mark.parametrize("definition", list(Definition))
def test_fewer_cells_than_were_ever_drawn_are_counted_each_by_itself(widths, definition) -> None:
    """Of two cells a uniform grid was advised, three times as wrong as plain noise on 10 and 0 people."""
    for people, purpose in product((10, 10**9), PURPOSES):
        found = rank(registry.HISTOGRAMS, box(*widths), Loss(definition, Fraction(1)), purpose, people)
        assert found.few
        assert found.methods[0].advised
        assert all(registry.mechanism(r.mechanism).is_plain for r in found.methods if r.advised)
    assert table.trials(1, definition).cells.min() >= ranking.FEW
    assert not rank(registry.HISTOGRAMS, box(16), EPSILON_ONE, "cells", 1000).few


@pytest.mark.parametrize(
    "widths, people, beyond",
    [((100,), 1000, False), ((10**6,), 1000, True), ((100,), 10**12, True), ((100,), 1, True)],
)
def test_what_lies_beyond_the_drawn_tables_is_told(widths, people, beyond) -> None:
    assert rank(registry.HISTOGRAMS, box(*widths), EPSILON_ONE, "cells", people).beyond is beyond


def test_methods_are_in_order_of_their_ratio_and_say_how_sure_that_is() -> None:
    found = rank(registry.HISTOGRAMS, box(1024), EPSILON_ONE, "ranges", 10_000)
    ratios = [r.ratio for r in found.methods if r.advised]
    assert ratios == sorted(ratios)
    assert ratios[0] >= 1
    first, *others = found.methods
    assert (first.lag, first.uncertain) == (0, 0)
    assert all(r.uncertain > 0 for r in others)
    assert all(r.low <= r.high and 0 <= r.nearly_best <= 1 for r in found.methods)
    assert 20 < found.tables < table.trials(1, Definition.PURE).cells.size


def test_where_the_quadtree_wins_it_is_advised() -> None:
    """Rectangles of 256 × 256 cells where n·ε is large, which a smaller model hid."""
    found = rank(registry.HISTOGRAMS, box(256, 256), EPSILON_ONE, "ranges", 10**6)
    assert "quadtree" in [r.mechanism for r in found.methods[:2]]


def test_the_ranking_depends_on_n_and_epsilon_by_their_product() -> None:
    one, other = (
        rank(registry.HISTOGRAMS, box(500), Loss(Definition.PURE, Fraction(e)), "cells", n)
        for e, n in (("1", 1000), ("0.01", 100_000))
    )
    assert one.strength == pytest.approx(other.strength)
    assert [r.ratio for r in one.methods] == pytest.approx([r.ratio for r in other.methods])


def test_strength_is_people_over_the_width_of_the_noise() -> None:
    assert strength_of(box(4), EPSILON_ONE, 700) == pytest.approx(700)
    replaced = Loss(Definition.PURE, Fraction(1), PrivacyUnit(Neighbours.REPLACE_ONE))
    assert strength_of(box(4), replaced, 700) == pytest.approx(350)
    # ρ = ε²/4 has the variance of Laplace noise: 1/(2ρ) = 2/ε².
    assert DiscreteGaussian(Fraction(2)).variance_parameter == 2
    assert strength_of(box(4), Loss(Definition.ZCDP, Fraction(1, 4)), 700) == pytest.approx(700)
    assert math.isfinite(strength_of(box(4), Loss(Definition.PURE, Fraction(1000)), 10**10))


def test_only_the_methods_asked_for_are_ranked() -> None:
    few = [m for m in registry.HISTOGRAMS if m.name in ("quadtree", "privtree")]
    assert {r.mechanism for r in rank(few, box(64), EPSILON_ONE, "totals", 100).methods} == {
        "quadtree",
        "privtree",
    }
    assert rank([], box(64), EPSILON_ONE, "totals", 100).methods == []


def test_an_unknown_purpose_is_refused() -> None:
    with pytest.raises(ValueError, match="purpose must be one of cells, ranges, totals"):
        rank(registry.HISTOGRAMS, box(4), EPSILON_ONE, "fun", 10)


def test_advice_runs_no_method(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks a table up: no plan is made, nothing is measured, whatever the number of cells."""
    for method in registry.HISTOGRAMS:
        for verb in ("plan", "measure", "reconstruct"):
            monkeypatch.setattr(type(method), verb, None)
    begun = time.process_time()
    rank(registry.HISTOGRAMS, box(10**6), EPSILON_ONE, "ranges", 10**6)
    assert time.process_time() - begun < 5
    assert ranking.NEARLY > 1
