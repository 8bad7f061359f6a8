"""Columns that say when something happened, by their names and by how their values are written."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dpportal.tables.meaning.name_words import words_of

_YEAR, _MONTH, _DAY = "(?:1[89]|20|21)[0-9]{2}", "(?:0[1-9]|1[0-2])", "(?:0[1-9]|[12][0-9]|3[01])"
_STEP = "(?:[WKSQT]|KW)"
# Days, months, weeks, quarters, school years, and times of day; none of them is a year alone, which may be any number.
_PERIOD = re.compile(
    f"{_YEAR}-{_MONTH}(?:-{_DAY})?|{_YEAR}{_MONTH}(?:{_DAY})?|{_DAY}[-./]{_MONTH}[-./]{_YEAR}|{_YEAR}[-/](?:{_YEAR}|[0-9]{{2}})"
    f"|{_YEAR}[- ]?{_STEP}-?[0-9]{{1,2}}|{_STEP}-?[0-9]{{1,2}}[- ]?{_YEAR}"
    "|[0-9]{1,2}[hH:][0-9]{2}(?:[m:]?[0-9]{2}s?)?"
)
_NAME = re.compile(
    "times?|timestamp|date|day|week|month|quarter|year|hour|term|semester|season|period|wave|round"
    "|zeit|uhrzeit|tag|woche|monat|quartal|jahr|saison|welle|.*(?:datum|jahr|monat|quartal|semester|zeitraum|zeitpunkt)"
    "|heure|jour|semaine|mois|trimestre|année|annee|semestre|saison|période|vague"
    "|hora|fecha|día|semana|mes|año|periodo"
)
_CHINESE = re.compile(".*(?:时间|时刻|日期|年份?|年度|月份?|周|季度|学年|学期|期间)")
# Of a person's birth there is one day, whatever is said of it.
_OF_BIRTH = re.compile("birth|born|birthday|birthdate|dob|.*geburts?.*|naissance|nacimiento|.*出生.*")


def names_a_birth(name: str) -> bool:
    """Whether a column's name says that it is about a person's birth."""
    return any(map(_OF_BIRTH.fullmatch, words_of(name)))


def names_a_period(name: str) -> bool:
    """Whether a column's name says that it holds a time of something, but not that of a person's birth."""
    if names_a_birth(name):
        return False
    return any(map(_NAME.fullmatch, words_of(name))) or bool(_CHINESE.fullmatch(name.strip()))


def are_periods(texts: Iterable[str]) -> bool:
    """Whether all texts, of which there is one at least, are written as days, months, school years or times of day."""
    return all(map(_PERIOD.fullmatch, texts))
