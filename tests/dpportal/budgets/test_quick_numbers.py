"""Numbers of long tables are written as Django's own filters write them, and quickly."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest
from django.contrib.humanize.templatetags.humanize import intcomma
from django.template import engines
from django.template.defaultfilters import floatformat
from django.utils import translation

from dpportal.budgets.templatetags.numbers import (
    MINUS,
    answer_rows,
    count_rows,
    grouped,
    margin,
    number_cells,
    percent,
    significant,
    tenths,
    unbroken,
)
from tests.dpportal.test_public_work import calls

RANDOM = np.random.default_rng(4)
FLOATS = [*(RANDOM.normal(size=500) * 10.0 ** RANDOM.integers(-3, 13, 500)).tolist(), 0.25, 0.05, -0.04, -0.0]
ODD = [None, True, "x", float("nan"), float("inf"), -5, 10**30, 1e20]


def signed(written):
    """What Django wrote, with a minus sign; others than numbers as they are."""
    return f"{MINUS}{written[1:]}" if str(written).startswith("-") else str(written)


@pytest.mark.parametrize("language", ["en", "de", "fr", "en-in"])
def test_they_are_those_of_the_language(language):
    with translation.override(language):
        assert [tenths(v) for v in FLOATS] == [signed(floatformat(v, "1g")) for v in FLOATS]
        assert [grouped(int(v)) for v in FLOATS] == [signed(intcomma(int(v))) for v in FLOATS]


def test_only_what_is_certain_is_nothing_or_all():
    assert [percent(v) for v in (0, 0.0001, 0.0005, 0.954)] == ["0.0 %", "under 0.1 %", "0.1 %", "95.4 %"]
    assert [percent(v) for v in (0.9999, 1, None)] == ["over 99.9 %", "100.0 %", "–"]


def test_odd_values_are_those_of_django():
    assert [tenths(v) for v in ODD] == [signed(floatformat(v, "1g")) for v in ODD]
    assert [grouped(v) for v in ODD] == [signed(intcomma(v)) for v in ODD]


def test_no_line_ends_between_a_number_and_its_margin():
    assert unbroken("within ± 1.8 % of it") == "within\u00a0±\u00a01.8\u00a0% of it"
    assert unbroken("has 5 ± 2 people") == "has 5\u00a0±\u00a02 people"
    assert unbroken('<b>5</b>\n  <i title="x">± 2</i> in') == '<b>5</b>\u00a0<i title="x">±\u00a02</i> in'


def test_labels_are_escaped():
    assert number_cells(["<b>", 1234], 1) == '<td>&lt;b&gt;</td><td class="number">1,234</td>'


def test_a_row_takes_few_calls():
    """So a table of two thousand is written within a public page's time, by any processor."""
    page = engines["django"].from_string(
        "{% load numbers %}{% for row in rows %}{{ row|number_cells:1 }}{% endfor %}"
    )
    rows = [["20–29", i * 1234, i, i - 5, i + 5] for i in range(2000)]
    assert calls(lambda: page.render({"rows": rows})) / len(rows) < 250


def test_a_count_has_its_margin_beside_it() -> None:
    """4,229 … 4,305 around 4,267 is written ± 38."""
    written = count_rows([["<f>", 4267, 4270, 4229, 4305]], 1)
    assert (
        written.startswith('<tr><th scope="row">&lt;f&gt;</th>')
        and "± 38<" in written
        and "4,229" not in written
    )
    assert "±" not in count_rows([["f", 4267, 4270]], 1)
    assert ">−7</td>" in (below := count_rows([["f", -7, 0, -12, -2]], 1)) and "-7" not in below
    assert ">−7</td>" in (answer := answer_rows([[1, "all", -7, 38]])) and "± 38<" in answer
    assert (
        ">−0.72</td>" in (weighted := answer_rows([[1, "mean", "-0.72", "0.25"]])) and "± 0.25<" in weighted
    )
    # As a page has it that an earlier version stored.
    assert answer_rows([[1, "all", -7.2, 2.0, -44.9, 30.5]]) == answer
    with translation.override("de"):
        assert "4.267<" in count_rows([["f", 4267, 4270]], 1)
    assert margin(12.5, 10.0) == "± 2.5"


def test_an_exact_decimal_has_significant_digits() -> None:
    assert [significant(Decimal(text)) for text in ("1234", "0.03125", "0")] == ["1,230", "0.0312", "0"]
    assert significant(Decimal("NaN")) == "–"
