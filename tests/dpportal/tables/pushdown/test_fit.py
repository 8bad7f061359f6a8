"""How a table in an engine fits its declarations: the numbers of an upload with the same rows, without its texts."""

from __future__ import annotations

import pytest

from dpportal.tables import Persons
from tests.dpportal.tables.pushdown import laws
from tests.dpportal.tables.test_fit import PERSONS


@pytest.mark.postgres
@pytest.mark.parametrize("persons", [None, PERSONS, Persons("who", 2, True)])
def test_each_number_is_that_of_an_upload(postgres, tmp_path, persons):
    laws.each_number_of_the_fit_is_that_of_an_upload(postgres, tmp_path, persons)
