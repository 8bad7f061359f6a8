"""Names that have no room in full are told apart all the same."""

from __future__ import annotations

import pytest

from dpportal.charts.text_width import letters, shortened_apart
from mechanisms.verify.chart_names import is_cut

NAMES = [
    "12th grade, no diploma, Female",
    "12th grade, no diploma, Male",
    "5th and 6th grade, Female",
    "5th and 6th grade, Male",
    "Metropolitan area of the north",
    "Metropolitan area of the northeast",
]


def test_of_names_that_begin_alike_the_words_in_which_they_differ_stay() -> None:
    short = shortened_apart(NAMES, 24)
    assert short[:4] == [
        "12th grade, no …, Female",
        "12th grade, no di…, Male",
        "5th and 6th gra…, Female",
        "5th and 6th grade, Male",
    ]
    assert len(set(short)) == len(NAMES) and max(map(letters, short)) <= 24


def test_a_name_like_no_other_and_one_of_a_single_word_are_cut_at_the_end() -> None:
    assert shortened_apart(["a" * 30, "b" * 30], 10) == ["aaaaaaaaa…", "bbbbbbbbb…"]


@pytest.mark.parametrize("name", shortened_apart(NAMES, 20))
def test_whoever_checks_a_drawing_knows_the_name(name: str) -> None:
    assert name in NAMES or is_cut(name, NAMES)


@pytest.mark.parametrize(
    "word", ["12th grade, no …, Divers", "13th …, Female", "12…8", "…, Female", "12 … 18"]
)
def test_no_other_word_passes_as_a_name_that_was_cut(word: str) -> None:
    assert not is_cut(word, [*NAMES, "12,345,678"])
