"""What the page of totals and means says of the ends of a column, where that tells something."""

from __future__ import annotations

import pytest

from dpportal.datasets import services
from mechanisms.domain import Categorical, Integer
from tests.dpportal.releases.products.building import files, finished

COLOUR = Categorical("colour", values=("red", "green", "blue"))


def report(dataset, amount: str) -> str:
    """Of the mean age of each colour, with limits far above all ages."""
    services.declare_all(dataset, [COLOUR, Integer("age", lower=-1500, upper=1499, width=100)])
    chosen = {"measured": ["age"], "deviation": True, "steps": {}}
    release = finished(dataset, "means", ["colour", "age"], amount, "bernstein-sums", **chosen)
    return " ".join(files(release)["report.html"].decode().partition("</style>")[2].split())


@pytest.mark.slow
@pytest.mark.parametrize(("amount", "is_told"), [("50", True), ("0.01", False)])
def test_ends_of_which_nothing_is_told_have_no_columns(rich, amount, is_told) -> None:
    """At ε = 0.01 noise hides how many of the 300 are at a limit; then rows have two cells less."""
    said = report(rich, amount)
    assert ("At 1,499 or above" in said) == is_told and ("At -1,500 or below" in said) == is_told
    table = said.partition("<table")[2].partition("</table>")[0]
    head, _end, body = table.partition("</thead>")
    row = body.partition("</tr>")[0]
    assert head.count("<th ") == row.count("<th ") + row.count("<td ")
