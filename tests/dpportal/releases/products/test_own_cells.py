"""The portal's own cells, “Other” and “Missing”, are called so in the reader's language, on all pages of a release."""

from __future__ import annotations

import json
import re

import pytest
from django.utils.translation import override

from dpportal.datasets import services
from dpportal.releases import results
from dpportal.releases.products import presenter_of
from mechanisms.domain import Categorical
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
