"""Quantities of a release by name, which sentences of the portal show: see `sentences`."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.accounting import Loss
from mechanisms.domain import MISSING_LABEL, OTHER_LABEL, Domain
from mechanisms.selection import SelectionPlan
from mechanisms.verify import chart_answers, series
from mechanisms.verify.bundle import MARGINS, Bundle
from mechanisms.verify.chart_orders import MOST_SIDE_BY_SIDE, most_shown
from mechanisms.verify.chart_series import numbers_of_steps
from mechanisms.verify.csv_tables import tables
from mechanisms.verify.derived import Derived, derived
from mechanisms.verify.fields import DISCLOSED
from mechanisms.verify.json_values import leaves
from mechanisms.verify.loss_factor import factor_shown
from mechanisms.verify.shown_numbers import days_of, significant

_COUNTS = ("noisy_count", "count", "estimate", "answer", "released_count")


class Quantities:
    """Of one bundle. A name is a word of `_BY_NAME`, a number, or a word of `_BY_PLACE` with what it is of."""

    def __init__(self, bundle: Bundle) -> None:
        self.release, self.plan = bundle.release, bundle.release["plan"]
        self.bundle = bundle
        self._known: dict[str, np.ndarray] = {}

    @cached_property
    def tables(self) -> dict[str, pd.DataFrame]:
        """By the stem of its file's name."""
        return dict(tables(self.bundle))

    @cached_property
    def derived(self) -> Derived:
        """What is worked out of the measurement."""
        counts = self.column("histogram count")
        return derived(
            self.bundle, counts.astype(np.int64) if np.isfinite(counts).all() else np.array([], np.int64)
        )

    @property
    def worked_out_margins(self) -> np.ndarray:
        """Of answers to queries, where their strategy is not too large."""
        return np.asarray(self.bundle.worked_out.get(MARGINS, []), float)

    def of(self, name: str) -> np.ndarray:
        """The values that a number of this name may show; none where the release has no such thing."""
        if name not in self._known:
            values = np.array(list(self._values(name)), float)
            self._known[name] = values[np.isfinite(values)]
        return self._known[name]

    def _values(self, name: str) -> Iterable[float]:
        word, _blank, place = name.partition(" ")
        if not word:
            return []
        if word.replace(".", "").isdigit():
            return [float(word)]
        return _BY_NAME[name](self) if name in _BY_NAME else _BY_PLACE[word](self, place)

    @property
    def noisy_counts(self) -> np.ndarray:
        """Those of a histogram; none where there is none."""
        return self.column("histogram noisy_count")

    @property
    def answers(self) -> np.ndarray:
        """How many; none where none are published."""
        return self.of("lines answers")

    def column(self, place: str) -> np.ndarray:
        """The numbers of a column, NaN where it has none; place: the table and the column."""
        stem, name = place.split()
        if stem not in self.tables or name not in self.tables[stem]:
            return np.array([])
        return self.numbers(self.tables[stem][name])

    @staticmethod
    def numbers(texts: pd.Series) -> np.ndarray:
        """NaN where a text is none."""
        return np.asarray(pd.to_numeric(texts, errors="coerce").to_numpy(float))

    def named(self, *names: str) -> list[float]:
        """The numbers that the plan has under these names."""
        values = (value for path, value in leaves(self.plan) if path.rpartition(".")[2] in names)
        return [number for value in values if (number := _number(value)) is not None]


def _number(value: Any) -> float | None:
    """Of a number, or of a text that is one; a step may be a fraction. Of a date its days, as files have them."""
    if isinstance(value, str) and (day := days_of(value)) is not None:
        return day
    try:
        return float(Fraction(value))
    except (TypeError, ValueError, ArithmeticError):
        return None


def _disclosed_losses(own: Quantities) -> list[float]:
    """Its own, and the one that is disclosed with what a choice of values cost before, which `fields` derives."""
    disclosed = own.release.get(DISCLOSED, {})
    amounts = (_number(disclosed.get(name)) for name in ("epsilon", "rho"))
    own_amount = float(Loss.from_json(own.plan["loss"]).amount)
    return [own_amount, *(amount for amount in amounts if amount is not None)]


def _people(own: Quantities) -> list[float]:
    """How many there are in all: the public number, or the sums of a table's counts, as they are or where above 0."""
    columns = (own.column(f"{stem} {name}") for stem in own.tables for name in _COUNTS)
    sums = [each for own in columns if len(own) for each in (np.nansum(own), np.nansum(np.maximum(own, 0)))]
    lines = map(float, map(len, own.tables.values()))
    return [*sums, *lines, *own.column("in_all number"), *own.derived.people, *own.of("plan total")]


def _bins(own: Quantities) -> list[float]:
    """How far bins can move a mean: their width, or a unit less for whole numbers."""
    widths = own.named("width")
    ends = [value for path, value in leaves(own.plan) if ".edges." in path if _number(value) is not None]
    between = np.diff(np.array([float(each) for each in ends])).tolist()
    bounds = np.array(own.named("lower", "upper"))
    spans = np.abs(bounds[:, None] - bounds[None, :]).ravel().tolist()
    widths_less = [width - less for width in (*widths, *between, *spans) for less in (0, 1)]
    return [*widths_less, *own.derived.bins]


def _sizes(own: Quantities) -> list[int]:
    """How many values each column has of which cells are made, with and without cells that the portal added."""
    shape = Domain.from_json(own.plan["domain"]).shape if "domain" in own.plan else ()
    return [size - left_out for size in shape for left_out in (0, 1, 2)]


def _shown_values(own: Quantities) -> list[int]:
    """How many of the values of a column are drawn where the largest are, alone or for each value of others."""
    sizes = sorted({1, *_sizes(own)})
    return [most_shown(first * second) for first in sizes for second in sizes]


def _groups(own: Quantities) -> list[float]:
    """Of which each measured column has a line."""
    return [len(own.tables["totals"]) / len(own.plan["columns"])] if "totals" in own.tables else []


def _shown_totals(own: Quantities) -> Iterable[float]:
    return range(len(own.tables.get("totals", ())) + 1)


def _margins(own: Quantities, place: str) -> np.ndarray:
    """Half of each interval, and how far its further end is from the number; place: the table and the number."""
    stem, name = place.split()
    values = own.column(place)
    prefix = "interval" if len(own.column(f"{stem} interval_lower")) else name
    low, high = own.column(f"{stem} {prefix}_lower"), own.column(f"{stem} {prefix}_upper")
    if not len(values) == len(low) == len(high):
        return np.array([])
    # A margin that is far below its number is not in the digits of the ends.
    worked_out = own.worked_out_margins if stem == "answers" else np.array([])
    return np.concatenate([(high - low) / 2, np.maximum(values - low, high - values), worked_out])


def _half_width(own: Quantities) -> list[float]:
    """That of the plan, and those of single cells where a measurement has others."""
    return [*own.of("plan half_width"), *own.of("margin histogram noisy_count")]


def _step_ends(own: Quantities) -> Iterator[float]:
    """Of measured columns of numbers, where the first whole step ends and the last one begins."""
    for planned in own.plan.get("columns", ()):
        column = planned.get("column") if isinstance(planned, dict) else None
        if column and (lower := _number(column["attribute"]["lower"])) is not None:
            step = float(Fraction(column["step"]))
            yield from (lower + step, lower + planned["steps"] * step)


def _step_parts(own: Quantities) -> list[int]:
    """Of steps that are written as fractions."""
    columns = [each["column"] for each in own.plan.get("columns", ()) if "column" in each]
    steps = [Fraction(column["step"]) for column in columns if "step" in column]
    return [part for step in steps for part in (step.numerator, step.denominator)]


def _largest(own: Quantities, place: str) -> list[float]:
    values = own.column(place)
    return [np.nanmax(values)] if len(values) else []


def _all_together(own: Quantities) -> list[float]:
    """Answers to queries over all cells."""
    plan, answers = own.derived.queries, own.column("answers answer")
    return [] if plan is None else [answers[place] for place in plan.workload.totals if place < len(answers)]


def _root_mean(own: Quantities, place: str) -> list[float]:
    values = own.column(place)
    return [float(np.sqrt(np.nanmean(values**2)))] if len(values) else []


def _above_bound(own: Quantities) -> list[float]:
    """How many times the least error that any strategy has."""
    return (
        [math.sqrt(own.plan["total_error"] / own.plan["lower_bound"])] if own.plan.get("lower_bound") else []
    )


def _declared_values(own: Quantities) -> list[float]:
    """Of a choice: its candidates without those for other and missing values. “Other” may be declared, too."""
    labels = own.plan["score"]["candidates"]
    without_missing = len(labels) - (labels[-1] == MISSING_LABEL)
    return [float(without_missing - is_added) for is_added in {False, OTHER_LABEL in labels}]


def _shortfall(own: Quantities) -> list[float]:
    """By fewer people than these a private choice trails the best candidate, with 95 % probability."""
    plan = SelectionPlan.from_json(own.plan)
    return [float(registry.selection(plan.mechanism).shortfall(plan, 0.95))]


def _date(own: Quantities) -> str:
    return str(own.release.get("measured_at") or own.release["last_published_at"])


def _closed(own: Quantities) -> list[str]:
    """When a running count was closed; nothing of one that goes on."""
    return [str(own.release["closed_at"])] if "closed_at" in own.release else []


def _last_day(own: Quantities) -> Iterator[dt.date]:
    """Of the newest period of a running count in a calendar."""
    if "series" in own.tables:
        day = series.last_day(own.tables["series"], own.release["calendar"])
        yield from () if day is None else (day,)


def _shown_columns(own: Quantities) -> list[float]:
    """Those that rows have, of which one of codes has its words beside it."""
    return [float(own.plan.get("keep") or len(own.plan["domain"]))] if "synthetic" in own.tables else []


def _times_measured(own: Quantities) -> list[float]:
    """How often a pair of columns was, at most, which a map's darkest shade stands for."""
    times = own.derived.times_measured
    return [] if times is None else [max(1.0, float(times.max(initial=0.0)))]


def _levels(own: Quantities, name: str) -> list[float]:
    """How many measured pairs are of a level, by the noise of their tables."""
    return [] if own.derived.levels is None else [float(getattr(own.derived.levels, name))]


def _newest(own: Quantities, name: str) -> list[float]:
    """Of the last period of a running count."""
    place = ("count", "added", "margin", "added margin").index(name)
    return own.derived.newest[place : place + 1]


def _widest_of_answers(own: Quantities) -> Iterable[float]:
    """Of each part of a workload, as its chart says."""
    plan = own.derived.queries
    return () if plan is None else chart_answers.widest(own.bundle, plan)


def _leaf(own: Quantities, path: str) -> list[float]:
    return [
        number for each, value in leaves(own.plan) if each == path if (number := _number(value)) is not None
    ]


def _lines(own: Quantities, stem: str) -> list[float]:
    """Of answers as many as there are queries, which are not all read."""
    if stem == "answers" and "queries" in own.release:
        return [float(own.release["queries"])]
    return [float(len(own.tables[stem]))] if stem in own.tables else []


def _further_columns(own: Quantities) -> Iterable[float]:
    """Of how many columns a line does not have the names."""
    columns = own.plan.get("domain") or own.plan.get("columns") or ()
    return range(1, len(columns))


def _stated_margins(own: Quantities) -> list[float]:
    """Of a table of counts or answers each line's; of a running count each period's."""
    return [*own.of("lines histogram"), *own.of("lines answers"), *own.of("lines series")]


_BY_NAME: dict[str, Callable[[Quantities], Iterable[float]]] = {
    "whole loss": _disclosed_losses,
    "factor": lambda own: factor_shown(Loss.from_json(own.plan["loss"])),
    "max_rows": lambda own: [float(own.plan["loss"]["max_rows"])],
    "people": _people,
    "half_width": _half_width,
    "more columns": _further_columns,
    "margins": _stated_margins,
    "margins that miss": lambda own: [number // 20 for number in own.of("margins") + 10],
    "bins": _bins,
    "bounds": lambda own: [*own.named("lower", "upper"), *_step_ends(own)],
    "steps": lambda own: own.named("step"),
    "step parts": _step_parts,
    "drawn": _shown_totals,
    "groups": _groups,
    "equal steps": lambda own: numbers_of_steps(own.tables["density"]) if "density" in own.tables else [],
    "sizes": _sizes,
    "drawn values": lambda own: [*_shown_values(own), *range(1, MOST_SIDE_BY_SIDE + 1)],
    "everyone": lambda own: own.derived.people,
    "everyone's margin": lambda own: own.derived.margins,
    "most of a column": lambda own: own.derived.column_sums,
    "margin of a column": lambda own: own.derived.column_margins,
    "shares": lambda own: [float(part) for each in own.plan["shares"].values() for part in each.split("/")],
    "above bound": _above_bound,
    "characteristics": lambda own: [float(len(own.plan["columns"]))],
    "day": lambda own: [float(_date(own)[8:10])],
    "year": lambda own: [float(_date(own)[:4])],
    "closed day": lambda own: [float(day[8:10]) for day in _closed(own)],
    "closed year": lambda own: [float(day[:4]) for day in _closed(own)],
    "last day": lambda own: [float(day.day) for day in _last_day(own)],
    "last year": lambda own: [float(day.year) for day in _last_day(own)],
    "columns": _shown_columns,
    "times measured": _times_measured,
    "variances": lambda own: [] if own.derived.components is None else own.derived.components.variances,
    "components": lambda own: range(1, len(own.of("variances")) + 1),
    "grid": lambda own: [] if own.derived.components is None else [own.derived.components.cells],
    "candidates": lambda own: [float(len(own.plan["score"]["candidates"]))],
    "declared values": _declared_values,
    "shortfall": _shortfall,
    "periods": lambda own: [float(own.release["periods"])],
    "widest answers": _widest_of_answers,
    "all together": _all_together,
    "good pairs": lambda own: _levels(own, "good"),
    "rough pairs": lambda own: _levels(own, "rough"),
    "noisy pairs": lambda own: _levels(own, "noisy"),
    "pairs": lambda own: [float((own.tables["pairs"]["measured"] == "True").sum())],
    "sums": lambda own: [*own.of("plan details.sums"), *own.derived.factors.sums],
    "cells": lambda own: [float(len(own.tables["cells"])), *own.derived.factors.cells],
}


def _rounded_down(values: np.ndarray) -> np.ndarray:
    """The values, and what is shown of them where they are lower ends: whole ones or tenths."""
    return np.concatenate([values, *(np.floor(values * steps + 1e-9) / steps for steps in (1, 10))])


_BY_PLACE: dict[str, Callable[[Quantities, str], Iterable[float]]] = {
    "plan": _leaf,
    "lines": _lines,
    "column": lambda own, place: own.column(place),
    "most": _largest,
    "scale": lambda own, place: [
        *own.column(place),
        *([] if np.nanmax(own.column(place), initial=0.0) > 0 else [1.0]),
    ],
    "margin": _margins,
    "newest": _newest,
    "percent": lambda own, place: 100 * own.column(place),
    "percent_down": lambda own, place: _rounded_down(100 * own.column(place)),
    "points": lambda own, place: 100 * _margins(own, place),
    "root": _root_mean,
    "significant": lambda own, place: significant(own.of(place)),
}
