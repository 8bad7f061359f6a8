"""The portal's own cells, “Other” and “Missing”, are called so in the reader's language, on all pages of a release."""

from __future__ import annotations

import json
import re

import pytest
from django.template.loader import render_to_string
from django.utils.html import strip_tags
from django.utils.translation import override

from dpportal.accounts.templatetags.glossary import TERMS
from dpportal.datasets import services
from dpportal.releases import results
from dpportal.releases.products import presenter_of
from mechanisms.domain import Categorical, Domain, Integer
from tests.dpportal.releases.products.building import finished

OWN = re.compile(r"\b(Other|Missing)\b")
OPEN = Categorical("colour", True, values=("red", "green"))
MADE = {
    "histogram": (["colour"], "laplace-histogram", {}),
    "crossed": (["colour", "age"], "laplace-histogram", {}),
    "response": (["colour"], "randomised-response", {}),
    "microdata": (["colour", "age"], "independent-columns", {"wishes": {}}),
    "summary": (["colour", "age"], "column-tables", {"group": "colour", "twice": []}),
    "means": (
        ["colour", "age"],
        "bernstein-sums",
        {"groups": ["colour"], "measured": ["age"], "deviation": True},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_the_portals_own_cells_have_names_in_the_readers_language(rich, name):
    columns, mechanism, parameters = MADE[name]
    if name == "response":
        services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
    services.declare(rich, "colour", OPEN)
    product = "histogram" if name == "crossed" else name
    release = finished(rich, product, columns, "50", mechanism, **parameters)
    presenter, made = presenter_of(release), results.reconstruct(release)
    for language, own in (("en", True), ("zh-hans", False)):
        with override(language):
            shown = presenter.page(made)
        shown.pop("sample", None)  # rows as the file has them
        page = json.dumps(shown, ensure_ascii=False, default=str)
        found = OWN.search(page)
        assert bool(found) is own, found and page[max(0, found.start() - 100) : found.end() + 100]


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (
            (Integer("age", missing_cell=True, lower=0, upper=9),),
            "The line “Missing” is for values that are missing or cannot be read.",
        ),
        (
            (Categorical("colour", True, values=("red", "green")),),
            "The line “Missing” is for values that are missing or cannot be read, “Other” for those not listed.",
        ),
        (
            (Categorical("colour", values=("red", "green")),),
            "The line “Other” is for values that are not listed, or missing.",
        ),
    ],
)
def test_a_page_says_what_the_lines_that_nobody_declared_are_for(attributes, expected):
    context = {"domain": Domain(attributes)}
    text = render_to_string("releases/_other_and_missing.html", context)
    assert " ".join(strip_tags(text).split()) == expected
    assert "cannot be read" in str(TERMS["missing"][1])
