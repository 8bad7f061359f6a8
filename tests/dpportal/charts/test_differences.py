"""The map of differences, and the cells that are farthest off."""

from __future__ import annotations

import numpy as np
import pytest

from dpportal.charts.differences import difference_figure
from dpportal.releases.products.histogram import comparison
from dpportal.releases.products.histogram.comparison import farthest
from mechanisms.domain import Domain, Integer


def numbers(*sizes: int) -> Domain:
    return Domain(tuple(Integer(f"c{i}", lower=0, upper=n - 1) for i, n in enumerate(sizes)))


def test_a_mark_is_the_difference_of_its_cell_on_a_scale_with_its_middle_at_nothing():
    domain = numbers(3, 4)
    true, raw = np.arange(12), np.arange(12)
    raw[5] += 7
    raw[11] -= 40
    figure = difference_figure(domain, raw=raw, true=true, half_width=9)
    [trace] = figure.json["data"]
    assert np.array(trace["z"]).reshape(-1).tolist() == (raw - true).tolist()
    axis = figure.json["layout"]["coloraxis"]
    assert (axis["cmin"], axis["cmax"]) == (-40, 40)
    assert figure.json["layout"]["meta"]["is_map"]
    assert "± 9" in trace["hovertemplate"]


def test_merged_marks_are_differences_of_sums_without_an_interval():
    domain = numbers(400, 400)
    generator = np.random.default_rng(1)
    true, raw = (generator.integers(0, 50, domain.size) for _ in range(2))
    figure = difference_figure(domain, raw=raw, true=true, half_width=9)
    [trace] = figure.json["data"]
    shown = np.array(trace["z"])
    assert shown.size <= 20_000
    assert shown.sum() == (raw - true).sum()
    assert "±" not in trace["hovertemplate"]


@pytest.mark.parametrize("size", [1, 19, 20, 21, 5_000])
@pytest.mark.parametrize("run", [7, 20, 1 << 20])
def test_the_farthest_are_those_of_a_whole_sort(monkeypatch, size, run):
    monkeypatch.setattr(comparison, "SORTED_AT_ONCE", run)
    generator = np.random.default_rng(size)
    raw, true = generator.permutation(10 * size)[:size], np.zeros(size, dtype=np.int64)
    found = farthest(raw, true, 20)
    assert raw[found].tolist() == sorted(raw.tolist(), reverse=True)[:20]
