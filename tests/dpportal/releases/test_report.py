"""The report that every release has: what the public page says, in a file by itself."""

from __future__ import annotations

import io
import re

import pandas as pd
import pytest

from dpportal.datasets.services import declare
from mechanisms.domain import Categorical
from tests.dpportal.releases.products.building import files, finished

PRODUCTS = {
    "histogram": (["colour", "age"], "laplace-histogram", {"within_bins": "smooth"}),
    "queries": (["colour", "age"], "identity-strategy", {"workload": 'identity("colour") x ranges("age")'}),
    "means": (["colour", "age"], "bernstein-sums", {"measured": ["age"], "deviation": True, "steps": {}}),
    "summary": (["colour", "age"], "column-tables", {"group": "colour", "twice": []}),
    "selection": (["colour"], "permute-and-flip", {}),
}


@pytest.fixture(params=PRODUCTS)
def release(request, dataset):
    columns, method, parameters = PRODUCTS[request.param]
    return finished(dataset, request.param, columns, "0.5", method, **parameters)


@pytest.mark.slow
def test_every_product_has_one_that_fetches_nothing_and_runs_nothing(release):
    text = files(release)["report.html"].decode()
    assert "differentially private with ε = 0.50" in text
    assert "How it was made" in text
    assert not re.search(r"(src|href)=|url\((?!.?data:|#)|@import|<script|<form", text)


@pytest.mark.slow
def test_it_begins_with_the_finding_in_which_no_line_ends_before_a_margin(dataset):
    declare(dataset, "colour", Categorical("colour", values=("red", "blue"), closed=True))
    release = finished(dataset, "histogram", ["colour"], "0.5", "laplace-histogram", within_bins="smooth")
    text = files(release)["report.html"].decode().partition("</style>")[2]
    finding = text.index('<p class="finding">')
    assert finding < text.index('<p class="statement">'), "privacy comes after it"
    sentence = re.sub("<[^>]*>", "", text[finding : text.index("</p>", finding)])
    assert "±" in sentence and not re.search(r"[ \n]±|±[ \n]", sentence)
    assert "Rows without a declared value in colour are left out; how many is not known." in " ".join(
        text.split()
    )


@pytest.mark.slow
def test_it_says_the_numbers_of_the_tables_and_draws_them(dataset):
    release = finished(dataset, "histogram", ["colour"], "0.5", "laplace-histogram", within_bins="smooth")
    given = files(release)
    text = given["report.html"].decode()
    table = pd.read_csv(io.BytesIO(given["histogram.csv"]))
    for name, count in zip(table["colour"], table["noisy_count"], strict=True):
        row = re.search(rf">{name}</th>.*?</tr>|>{name}</td>.*?</tr>", text, re.S)
        assert row is not None and f">{count:,}<".replace("-", "\N{MINUS SIGN}") in row[0]
    assert text.count('<svg class="still"') == 1


@pytest.mark.slow
def test_a_workbook_says_the_same_as_its_table(dataset):
    given = files(
        finished(dataset, "histogram", ["colour", "age"], "0.5", "laplace-histogram", within_bins="smooth")
    )
    for name in ("histogram", "synthetic"):
        book, table = (
            pd.read_excel(io.BytesIO(given[f"{name}.xlsx"])),
            pd.read_csv(io.BytesIO(given[f"{name}.csv"])),
        )
        pd.testing.assert_frame_equal(book, table, check_dtype=False)
