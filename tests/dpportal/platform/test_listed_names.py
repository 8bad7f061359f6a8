"""Names and sentences one after the other, as each language writes them."""

from __future__ import annotations

import pytest
from django.utils.translation import override

from dpportal.platform.listed_names import in_a_row, in_sentence, joint, listed, listed_values


@pytest.mark.parametrize(
    ("language", "names", "sentences"),
    [("en", "a, b, c", "One. Two."), ("zh-hans", "a、b、c", "One. Two.")],
)
def test_names_have_the_comma_of_the_reader(language: str, names: str, sentences: str) -> None:
    with override(language):
        assert (listed(["a", "b", "c"]), listed(["a"]), listed([])) == (names, "a", "")
        assert in_a_row(["One.", "", "Two."]) == sentences


def test_the_columns_of_a_title_have_the_comma_of_the_reader_too() -> None:
    assert (in_sentence(["a", "b", "c"]), in_sentence(["a"])) == ("a, b and c", "a")
    with override("zh-hans"):
        assert in_sentence(["a", "b", "c"]).startswith("a、b")


def test_a_wide_mark_needs_no_blank_after_it() -> None:
    assert in_a_row(["一。", "二。", "Three.", "四。"]) == "一。二。Three. 四。"


def test_joints_are_as_wide_as_the_language_writes_them() -> None:
    with override("zh-hans"):
        assert [joint(mark) for mark in ",:;."] == ["，", "：", "；", "。"]
    with override("en"):
        assert [joint(mark) for mark in ",:;."] == [", ", ": ", "; ", ". "]


def test_values_with_commas_of_their_own_are_parted_by_semicolons() -> None:
    assert listed_values(["male", "female"]) == "male, female"
    assert listed_values(["married, spouse absent", "widowed"]) == "married, spouse absent; widowed"
