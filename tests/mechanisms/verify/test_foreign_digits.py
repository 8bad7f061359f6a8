"""Digits that a program would not read as the number that people see are named, but for those of a release's names."""

from __future__ import annotations

import time

import pytest

from mechanisms.verify.foreign_digits import foreign, own_words

STRANGE = {
    "raised": "10⁰ people",
    "circled": "In truth ⑦⑧③④",
    "of full width": "７８３４",
    "mathematical": "\U0001d7d5\U0001d7d6",
    "a fraction": "½ were red",
    "a blank without width": "7\u200b8\u200b3\u200b4",
    "a soft hyphen": "7\u00ad834",
    "a joiner that is a mark": "7\u034f834",
    "keys around digits": "7\u20e38\u20e3",
    "lines under digits": "7\u03328\u03323",
    "hair blanks": "7\u200a8\u200a3",
    "narrow blanks before fewer than three digits": "7\u202f8\u202f3",
    "a narrow blank after more than three": "1234\u202f567",
    "a digit after a group": "7\u202f834\u202f5",
    "another power of ten": "at most 10⁻⁹",
    "signs of control": "In truth \x1b$B#7#1#2\x1b(B",
    "a sign of control between digits": "7\x008",
    "a day of the month": "on ㏦",
    "a power beside a digit": "5.2 × 10²¹①",
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_what_people_read_as_another_number_is_named(text):
    own = own_words({"title": "m² of ground, 7 ½", "delta": 1e-06, "statement": text})
    assert list(foreign(text, own.replace("½", "")))


@pytest.mark.parametrize(
    "text",
    [
        "120\u00a0± 10",
        "1\u202f234\u202f567 people",
        "a factor of 5.2 × 10²¹",
        "δ = 10⁻⁶",
        "m² of ground",
        "7 8",
        "7\n8\t9\r\n10",
    ],
)
def test_what_portals_write_and_what_names_have_is_not(text):
    assert list(foreign(text, own_words({"title": "m² of ground", "delta": 1e-06}))) == []


def test_a_long_row_of_digits_is_read_at_once():
    begun = time.process_time()
    assert list(foreign("7" * 100_000 + " m²", "m³")) == ["²"]
    assert time.process_time() - begun < 1


def test_a_sign_of_a_name_is_none_of_another_number():
    assert list(foreign("m² has 12 and 12²", own_words({"title": "m²"}))) == ["12²"]
