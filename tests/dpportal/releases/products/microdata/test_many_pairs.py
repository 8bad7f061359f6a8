"""Of thousands of pairs pages show the first, and say where all are: 250 columns were a page of fourteen megabytes."""

from __future__ import annotations

import pandas as pd
from django.template.loader import render_to_string

from dpportal.releases.models import Release
from dpportal.releases.products.microdata.page import _pair_lines
from mechanisms.domain import Boolean, Domain
from tests.dpportal.markup import folded

FIGURE = {"json": {}, "title": "Title", "caption": "", "drawing": ""}


def test_a_public_page_shows_the_first_thousand_pairs_measured_ones_before_others() -> None:
    pairs = pd.DataFrame({"first": ["a"] * 1200, "second": [f"b{place}" for place in range(1200)]})
    tables = [{"columns": ["a", "b1100"], "cells": 4, "margin": margin, "lines": []} for margin in (9, 7)]
    names = ["a", *(f"b{place}" for place in range(1200))]
    lines = _pair_lines(pairs, tables, Domain(tuple(Boolean(name) for name in names)))
    assert len(lines) == 1000
    assert lines[0] == {"columns": ["a", "b1100"], "table": 1, "cells": 4, "margin": 7}
    shown = {"pair_lines": lines, "pairs": 1200, "measured": 1, "figure": FIGURE}
    page = folded(render_to_string("releases/microdata/_pairs.html", {"shown": shown, "alone": True}))
    assert "The first 1,000 of 1,200 pairs; all are in pairs.csv." in page
    assert page.count('<th scope="row">') == 1000 and page.count("± 7<") == 1


def test_the_compare_page_shows_the_thousand_worst_pairs() -> None:
    comparison = {"table": [["a", "b", True, 0.1, 0.2, 0.3]] * 1001}
    page = folded(
        render_to_string("releases/microdata/_compare.html", {"comparison": comparison, "release": Release()})
    )
    assert "The worst 1,000 of 1,001 pairs; all are in the CSV." in page
    assert page.count("<td>a</td><td>b</td>") == 1000
