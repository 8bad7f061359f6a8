"""A column's counts have margins on the page, also where neighbouring cells are added up to be drawn."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpportal.charts.single_columns import column_figure
from dpportal.releases.products.microdata import sample
from dpportal.releases.products.microdata.choices import column_of
from mechanisms.domain import Integer
from mechanisms.noise import DiscreteLaplace, Noise

RUNS = 4_000


@pytest.mark.parametrize(("cells", "together"), [(40, 1), (120, 2), (640, 16)])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(20)])
def test_the_margin_of_counts_that_are_added_up_holds_the_sums(cells, together, scale):
    law, noise = DiscreteLaplace(scale), Noise(np.random.default_rng(3).bytes)
    column = sample._column(Integer("age", lower=1, upper=cells), np.full(cells, 50), law)
    assert column["together"] == together and set(column["counts"]) == {50 * together}
    sums = noise.draw(law, RUNS * together).reshape(RUNS, together).sum(axis=1)
    # Five standard deviations of a share of 95 % in so many runs.
    assert (abs(sums) <= column["margin"]).mean() > 0.95 - 5 * (0.05 * 0.95 / RUNS) ** 0.5
    if together == 1:
        assert column["margin"] == law.half_width()


def test_bars_that_add_up_cells_have_whiskers_and_a_count_below_0_is_explained():
    law = DiscreteLaplace(Fraction(20))
    counts = np.append(np.full(118, 50), [-9, -10])
    column = sample._column(Integer("age", lower=1, upper=120), counts, law)
    figure = column_of([column], 0)["figure"]
    [bars] = figure["json"]["data"]
    assert bars["error_y"]["value"] == column["margin"] > 0
    assert f"Margin: ± {column['margin']:,} people." in figure["caption"]
    assert "Each bar adds up 2 neighbouring cells" in figure["caption"]
    assert figure["caption"].endswith("A count below 0 is noise: few or none are there.")


def test_pages_stored_without_a_margin_of_several_cells_are_still_drawn():
    figure = column_figure("age", ["1–2", "3–4"], [3, 4], half_width=None, together=2)
    assert figure.caption.endswith("are in columns.csv.") and "data" in figure.json
