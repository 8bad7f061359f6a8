"""Where missing and unreadable values of a counted column have no cell of their own, page and README name theirs."""

from __future__ import annotations

import pytest

from dpportal.datasets import services as datasets
from dpportal.streams import bundle, services
from dpportal.streams.series import published
from mechanisms.domain import Integer
from tests.dpportal.streams import building as streams
from tests.dpportal.streams.test_publishing import publish

pytestmark = pytest.mark.slow
SAID = "Missing and unreadable values have no cell of their own and count in a declared one: age in “0–9”."


@pytest.mark.parametrize(
    ("missing_cell", "chosen", "is_said"),
    [
        (False, {"split": True}, True),
        (False, {"cells": [0, 1]}, True),
        (False, {"cells": [1, 2]}, False),
        (True, {"split": True}, False),
    ],
)
def test_only_a_counted_cell_that_takes_them_is_named(
    client, curator, dataset, tmp_path, missing_cell, chosen, is_said
):
    datasets.declare(dataset, "age", Integer("age", missing_cell, lower=0, upper=99, width=10))
    stream = streams.open_stream(dataset, column="age", **chosen)
    publish(stream, 1, *([1] * len(stream.labels)))
    services.publish(stream, curator)
    assert (SAID in client.get(stream.get_absolute_url()).text) is is_said
    readme = next(
        file for file in bundle.write(stream, published(stream), tmp_path) if file.name == "README.md"
    )
    assert (f"- {SAID}" in readme.path.read_text()) is is_said
