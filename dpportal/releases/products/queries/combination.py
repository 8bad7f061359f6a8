"""A sum or a difference of released answers, with its own interval: post-processing that anyone may ask for."""

from __future__ import annotations

import csv
import re
import sys
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import partial
from mmap import mmap

import numpy as np
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from dpportal.releases.products.queries import page_limits
from dpportal.releases.products.queries.parts import answer_shown, count_people, margin_shown
from dpportal.releases.products.queries.words import label_text
from dpportal.releases.products.queries.workloads import label_of
from dpportal.releases.products.shared import stored_estimates
from mechanisms import registry
from mechanisms.matrix.combined import combined_error
from mechanisms.matrix.mechanism import QueryPlan

MAX_ANSWERS = 200
MAX_TEXT = 2_000
_FORM = re.compile(r"\s*[+-]?\s*\d{1,8}(\s*[+-]\s*\d{1,8})*\s*")
_PART = re.compile(r"([+-]?)\s*(\d+)")
_BEGINNING = re.compile(rb"(\d{1,8}),")


def answer(release: Release, plan: QueryPlan, text: str) -> Json:
    """What a reader's sum, such as "3 + 4 - 7" by numbers of queries, comes to; or what is wrong with it."""
    if not text.strip():
        return {}
    shared = {"sum": text[:MAX_TEXT]}
    try:
        return {**shared, "combination": _combination(release, plan, _parsed(text, plan.workload.queries))}
    except ValueError as refusal:
        return {**shared, "combination_refusal": str(refusal)}


def _parsed(text: str, queries: int) -> dict[int, int]:
    """How often each query is added, by its number. Raises ValueError with what to change."""
    if len(text) > MAX_TEXT or not _FORM.fullmatch(text):
        raise ValueError(_("Write numbers of answers with + or − between them, for example: 3 + 4 - 7."))
    times: dict[int, int] = {}
    for sign, digits in _PART.findall(text):
        times[int(digits)] = times.get(int(digits), 0) + (-1 if sign == "-" else 1)
    missing = [number for number in times if not 1 <= number <= queries]
    if missing:
        raise ValueError(
            _("There is no answer %(number)s; they are numbered from 1 to %(last)s.")
            % {"number": f"{missing[0]:,}", "last": f"{queries:,}"}
        )
    if len(times) > MAX_ANSWERS:
        raise ValueError(_("At most %(limit)s answers can be combined.") % {"limit": MAX_ANSWERS})
    return {number: count for number, count in times.items() if count}


def _combination(release: Release, plan: QueryPlan, times: Mapping[int, int]) -> Json:
    method = registry.query_mechanism(plan.mechanism)
    if refusal := page_limits.refusal_of_answers(method, plan):
        raise ValueError(refusal)
    released = _released(release, times)
    weights = np.zeros(plan.workload.queries)
    weights[[number - 1 for number in times]] = list(times.values())
    people = count_people(plan)
    error, half_width = combined_error(method, plan, weights)
    estimate = sum(count * float(released[number]["answer"]) for number, count in times.items())
    return {
        "parts": [
            {
                "sign": _sign(count),
                "query": label_text(label_of(plan.workload, plan.domain.for_readers, number)),
            }
            for number, count in times.items()
        ],
        "answer": answer_shown(estimate, half_width, people),
        "margin": margin_shown(half_width, people),
        "estimate": estimate,
        "standard_error": error,
        "lower": estimate - half_width,
        "upper": estimate + half_width,
    }


def _sign(count: int) -> str:
    """How an answer enters a sum: +, −, + 2 ×."""
    sign = "+" if count > 0 else "−"
    return sign if abs(count) == 1 else f"{sign} {abs(count)} ×"


def _released(release: Release, numbers: Mapping[int, int]) -> dict[int, dict[str, str]]:
    """The lines of answers.csv with these numbers. Raises ValueError if one cannot be found."""
    stored = release.artifacts.get(name="answers.csv").stored
    with stored_estimates.content(stored) as answers:
        names = next(csv.reader(_lines(answers, 0)))
        return {number: _line(answers, names, number) for number in numbers}


def _line(answers: mmap, names: list[str], number: int) -> dict[str, str]:
    """The line of a number, by bisection: lines have no fixed length, but their numbers rise."""
    place = bisect_left(range(len(answers)), number, key=partial(_number_beyond, answers))
    line = next(csv.DictReader(_lines(answers, _line_beyond(answers, place)), names), {})
    if line.get("number") != str(number):  # a value that holds a line break, and a number behind it
        raise ValueError(
            _("Answer %(number)s cannot be looked up here. Read it in answers.csv.") % {"number": number}
        )
    return line


def _number_beyond(answers: mmap, place: int) -> int:
    """The number of the first line that begins beyond a place, behind the last a large one."""
    begins = _BEGINNING.match(answers, _line_beyond(answers, place))
    return int(begins[1]) if begins else sys.maxsize


def _line_beyond(answers: mmap, place: int) -> int:
    """Where the first line with a number begins beyond a place of the file; its end if none does."""
    while place := answers.find(b"\n", place) + 1:
        if _BEGINNING.match(answers, place):
            return place
    return len(answers)


def _lines(answers: mmap, place: int) -> Iterator[str]:
    """The lines from where one begins. Visitors share the file, so none of them moves in it."""
    while place < len(answers):
        end = answers.find(b"\n", place) + 1 or len(answers)
        yield answers[place:end].decode()
        place = end
