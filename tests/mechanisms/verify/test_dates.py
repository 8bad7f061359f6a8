"""A date of a text is one number: the day on which a number of days of the tables falls."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from mechanisms.verify import printed_table, sentences
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.known_numbers import KnownNumbers
from mechanisms.verify.quantities import Quantities

LOSS = {"definition": "pure", "amount": "1/2", "neighbours": "add-remove", "max_rows": 1}
VISIT = {"kind": "date", "name": "visit", "lower": "1990-11-15", "upper": "1997-06-11", "step": "day"}
# 27 February 1992 is day 8092.
IN_ALL = "measured,number,mean,mean_lower,mean_upper\nvisit,18,8092.4,7828.4,8356.4\n"


@pytest.fixture
def bundle(tmp_path: Path) -> Bundle:
    plan = {"loss": LOSS, "columns": [{"column": {"attribute": VISIT, "step": "1"}, "steps": 2400}]}
    release = {"plan": plan, "files": {}, "product": "means", "measured_at": "2026-11-28T10:00:00+00:00"}
    with zipfile.ZipFile(tmp_path / "release.zip", "w") as archive:
        archive.writestr("release.json", json.dumps(release))
        archive.writestr("in_all.csv", IN_ALL)
    return Bundle.read(tmp_path / "release.zip")


SENTENCES = {
    "a mean": ("The mean of visit is 1992-02-27 ± 264 days.", "1992-02-28"),
    "a bound": ("Values above 1997-06-11 count as 1997-06-11", "1997-06-12"),
    "a bound of a share": ("values at the lower end (visit 1990-11-15 or below)", "1990-01-15"),
}


@pytest.mark.parametrize(("sentence", "other"), SENTENCES.values(), ids=SENTENCES)
def test_a_date_is_what_its_sentence_says_and_no_other_day(bundle, sentence, other):
    quantities = Quantities(bundle)
    found = sentences.placed(sentence, quantities)
    assert found and all(found.values())
    [date] = {sentence[place : place + 10] for place in found if sentence[place + 4] == "-"}
    assert not all(sentences.placed(sentence.replace(date, other), quantities).values())


def test_elsewhere_a_date_is_a_day_of_the_tables_or_of_the_release(bundle):
    known = KnownNumbers(bundle)
    assert all(map(known.has, ("1992-02-27", "1990-11-15", "2026-11-28")))
    assert not any(map(known.has, ("1992-02-28", "1992-01-27", "1991-02-27", "2026-11-27", "1992-02-30")))


def test_a_comma_behind_a_date_is_no_part_of_it():
    """As in the texts of Table 1; a page has elements between them."""
    text, page = "[1992-06-13, 1993-06-03] 1,234", "[ 1992-06-13 , 1993-06-03 ] 1,234"
    assert printed_table._numbers([text]) == printed_table._numbers([page])
