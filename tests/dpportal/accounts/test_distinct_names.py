"""Names that look like another's in letters of another alphabet are refused; honest ones of any alphabet are not."""

from __future__ import annotations

import pytest

from dpportal.accounts.distinct_names import confusion
from dpportal.accounts.look_alikes import looks_of

NAMES = ("boss", "Anna", "Kohler", "bill", "Нина", "ΜΑΡΙΑ", "soho", "李明")


@pytest.mark.parametrize(
    "name",
    [
        "воѕѕ",  # Cyrillic
        "ВОЅЅ",
        "ꓐꓳꓢꓢ",  # Lisu
        "soһo",
        "ѕоһо",
        "bi11",
        "biII",
        "BILL",
        "MAPIA",  # as the Greek one
        "МАРІА",
    ],
)
def test_a_name_that_looks_like_another_is_refused(name):
    assert confusion(name, NAMES)


@pytest.mark.parametrize(
    "name",
    [
        *("Вера", "Анна", "Борис", "Сергей", "Пётр", "Ольга", "Роман", "нина2", "Жанна", "Тарас", "Юлия"),
        *("Νίκος", "Μαρίνα", "Ελένη", "Γιώργος", "Άννα", "Χρήστος"),
        *(
            "Արամ",
            "Անահիտ",
            "李朋",
            "中村",
            "ירון",
            "ليلى",
            "Will",
            "Billy",
            "Ana",
            "Al",
            "Ai",
            "Søren",
            "bosse",
        ),
    ],
)
def test_an_honest_name_is_nobody_elses(name):
    assert confusion(name, NAMES) == ""


def test_names_of_one_alphabet_look_like_themselves_alone():
    names = [
        "Al",
        "Ai",
        "Ian",
        "Lan",
        "Ола",
        "Оля",
        "Ева",
        "Eve",
        "Марк",
        "Mark",
        "Νίκος",
        "Νίκη",
        "user2",
        "user3",
    ]
    assert not [
        (one, other)
        for place, one in enumerate(names)
        for other in names[place + 1 :]
        if looks_of(one) & looks_of(other)
    ]
