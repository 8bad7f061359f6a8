"""Of thousands of pairs pages show the first, and say where all are: 250 columns were a page of fourteen megabytes."""

from __future__ import annotations

from django.template.loader import render_to_string

from dpportal.releases.models import Release
from tests.dpportal.markup import folded

FIGURE = {"json": {}, "title": "Title", "caption": "", "drawing": ""}


def test_a_public_page_shows_a_hundred_tables_and_a_thousand_lines() -> None:
    table = {"columns": ["a", "b"], "cells": 4, "lines": [["x", "y", 3, 1, 5]]}
    shown = {
        "tables": [table] * 1200,
        "figure": FIGURE,
        "measured": [["a", "b", 4, 1.5]] * 1200,
        "pairs": 1200,
    }
    page = folded(render_to_string("releases/microdata/_measured.html", {"shown": shown}))
    assert page.count("<details>") == 100 and "The first 100 of 1,200 tables." in page
    page = folded(render_to_string("releases/microdata/_page.html", {"shown": shown, "alone": True}))
    assert "The first 1,000 of 1,200 lines; all are in pairs.csv." in page
    assert page.count("<td>a</td><td>b</td>") == 1000


def test_the_compare_page_shows_the_thousand_worst_pairs() -> None:
    comparison = {"table": [["a", "b", True, 0.1, 0.2, 0.3]] * 1001}
    page = folded(
        render_to_string("releases/microdata/_compare.html", {"comparison": comparison, "release": Release()})
    )
    assert "The worst 1,000 of 1,001 pairs; all are in the CSV." in page
    assert page.count("<td>a</td><td>b</td>") == 1000
