"""How a table in an engine fits its declarations: the numbers of an upload with the same rows, without its texts."""

from __future__ import annotations

import pytest

from dpportal.datasets.rawdata import Persons, fit_table
from dpportal.datasets.rawdata.elsewhere.looking import REASONS, reasons_statement, rows_statement
from dpportal.datasets.rawdata.elsewhere.statement import Source
from dpportal.datasets.rawdata.elsewhere.types import TYPES
from dpportal.datasets.rawdata.fit import ColumnFit
from mechanisms.domain import Attribute
from tests.dpportal.datasets.rawdata.elsewhere import twins
from tests.dpportal.datasets.rawdata.test_fit import DOMAIN, NAMES, OPTIONS, PERSONS, ROWS


def by_reason(column: ColumnFit) -> list[int]:
    return [getattr(column, reason) for reason in REASONS]


@pytest.mark.postgres
@pytest.mark.parametrize("persons", [None, PERSONS, Persons("who", 2, True)])
def test_each_number_is_that_of_an_upload(postgres, tmp_path, persons):
    values = zip(*ROWS, strict=True)
    columns = {name: ("text", list(texts)) for name, texts in zip(NAMES, values, strict=True)}
    theirs = fit_table(twins.stored(tmp_path, columns), DOMAIN, OPTIONS, persons)
    postgres.fill(columns)
    source = Source(postgres.dialect, "twin", dict.fromkeys(NAMES, TYPES["text"]))
    found = dict(postgres.rows(reasons_statement(source, DOMAIN, OPTIONS)))
    for place, column in enumerate(theirs.columns):
        ours = [found.get(place * len(REASONS) + reason, 0) for reason in range(len(REASONS))]
        assert ours == by_reason(column), column.column
    leaving: list[Attribute] = [a for a in DOMAIN.attributes if a.leaves_out]
    rows = dict(postgres.rows(rows_statement(source, leaving, OPTIONS, persons)))
    assert (rows[1], rows[2]) == (theirs.rows, theirs.left_out)
    if theirs.persons:
        assert (rows[0], rows[3], rows[4]) == (
            theirs.persons.persons,
            theirs.persons.beyond,
            theirs.persons.without,
        )
