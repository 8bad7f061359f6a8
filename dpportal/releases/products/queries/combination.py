"""A sum or a difference of released answers, with its own interval: post-processing that anyone may ask for."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from io import TextIOWrapper

import numpy as np
from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from mechanisms import registry
from mechanisms.matrix.combined import combined_error
from mechanisms.matrix.mechanism import QueryPlan

MAX_ANSWERS = 200
MAX_TEXT = 2_000
_FORM = re.compile(r"\s*[+-]?\s*\d{1,8}(\s*[+-]\s*\d{1,8})*\s*")
_PART = re.compile(r"([+-]?)\s*(\d+)")


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
    released = _released(release, times)
    weights = np.zeros(plan.workload.queries)
    weights[[number - 1 for number in times]] = list(times.values())
    error, half_width = combined_error(registry.query_mechanism(plan.mechanism), plan, weights)
    estimate = sum(count * float(released[number]["answer"]) for number, count in times.items())
    return {
        "parts": [
            {"sign": _sign(count), "query": released[number]["query"]} for number, count in times.items()
        ],
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
    """The lines of answers.csv with these numbers."""
    stored = release.artifacts.get(name="answers.csv").stored
    last = max(numbers, default=0)
    lines: dict[int, dict[str, str]] = {}
    with default_storage.open(stored) as file:
        for place, line in enumerate(
            csv.DictReader(TextIOWrapper(file, encoding="utf-8", newline="")), start=1
        ):
            if place in numbers:
                lines[place] = line
            if place >= last:
                break
    return lines
