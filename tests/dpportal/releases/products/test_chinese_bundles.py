"""Bundles speak Chinese line by line: the readme below its English, a report of their own, and notebooks."""

from __future__ import annotations

import json
import re

import pytest

from dpportal.datasets import services
from dpportal.datasets.models import Dataset
from dpportal.publications.notebook import JUPYTER
from dpportal.releases.models import Release
from dpportal.streams import bundle as stream_bundle, execution
from dpportal.streams.execution import Update
from dpportal.streams.models import Period
from dpportal.streams.series import published
from tests.dpportal.chinese import foreign_lines, shown_lines
from tests.dpportal.releases.products.building import files, finished
from tests.dpportal.releases.products.test_verified import MADE
from tests.dpportal.streams import building as streams

# What people called their table, release and columns, and the values of these.
NAMES = ("Small table", "Test", "colour", "age", "red", "green", "blue", "Red ones so far", "Fenwick", "FDA")
REPORT = "report.zh-hans.html"


def randomised(rich: Dataset) -> Release:
    """Randomised answers, whose number is public where people are replaced."""
    services.declare_unit(rich, neighbours="replace-one", unit_column="", max_rows=1)
    return finished(rich, "response", ["colour"], "2", "randomised-response")


PRODUCTS = {**MADE, "randomised answers": randomised}


def foreign(given: dict[str, bytes]) -> list[str]:
    """Lines of readme and report that are not Chinese, and cells of the notebook that have none."""
    readme = re.sub(r"```.*?```", "", given["README.md"].decode().split("# 中文说明")[1], flags=re.DOTALL)
    lines = [*readme.splitlines(), *shown_lines(given[REPORT].decode())]
    cells = [
        cell["source"] for cell in json.loads(given[JUPYTER])["cells"] if cell["cell_type"] == "markdown"
    ]
    return [*foreign_lines(lines, NAMES), *(cell for cell in cells if not re.search("[一-鿿]", cell))]


@pytest.mark.slow
@pytest.mark.parametrize("make", PRODUCTS.values(), ids=PRODUCTS)
def test_every_product_explains_itself_in_chinese(rich, make):
    given = files(make(rich))
    assert not foreign(given)
    english, chinese = given["report.html"].decode(), given[REPORT].decode()
    assert '<html lang="en">' in english and "How it was made" in english
    assert '<html lang="zh-hans">' in chinese


@pytest.mark.slow
def test_a_running_count_explains_itself_in_chinese(dataset, tmp_path):
    stream = streams.open_stream(dataset)
    for index in (1, 2):
        update = Update(index, (5,), Period.Source.TYPED)
        execution.publish(stream.pk, [update], noise=streams.repeated_noise())
    written = stream_bundle.write(stream, published(stream), tmp_path)
    assert not foreign({file.name: file.path.read_bytes() for file in written})


def test_lines_that_are_not_chinese_are_found():
    readme = "# Title\n\n# 中文说明\n- `count`：Number of people\n- 12 in age\n- CSV 文件\n"
    report = '<p>列 age：value</p><p lang="en">Terms of use</p><code>some words</code>'
    notebook = {"cells": [{"cell_type": "markdown", "source": "## The counts"}]}
    given = {"README.md": readme.encode(), REPORT: report.encode(), JUPYTER: json.dumps(notebook).encode()}
    expected = ["- `count`：Number of people", "- 12 in age", "列 age：value", "## The counts"]
    assert foreign(given) == expected
