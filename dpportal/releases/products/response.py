"""The product "randomised answers": one column, randomised row by row, with estimated counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dpportal.charts.counts import counts_figure, residuals_figure
from dpportal.charts.style import Figure
from dpportal.datasets.models import DomainVersion
from dpportal.datasets.rawdata import records
from dpportal.publishing import codebook
from dpportal.publishing.headers import valid_names
from dpportal.publishing.labelled import LabelColumn, label_columns
from dpportal.publishing.spreadsheet import inert_frame
from dpportal.publishing.table import Table
from dpportal.publishing.verdict import Verdict, of_answers
from dpportal.releases.models import Release
from dpportal.releases.products import explorer, kept
from dpportal.releases.products.base import ChoiceForm, DraftError, Made, Product
from dpportal.releases.products.histogram import usefulness
from dpportal.releases.products.histogram.page import figure_json, whole
from mechanisms import registry
from mechanisms.accounting import Loss, PrivacyUnit
from mechanisms.boxes import CellSum, Picks
from mechanisms.domain import Domain
from mechanisms.evaluate import observed_error
from mechanisms.noise import Noise
from mechanisms.postprocess import lattice_simplex
from mechanisms.protocol import Measurement, PlanError
from mechanisms.response import Estimate, Response, ResponsePlan, UnaryEncoding, shuffled_codes
from mechanisms.response_sums import cell_sum

ROWS_AT_ONCE = 100_000
LEVEL = 0.95


class ColumnForm(ChoiceForm):
    """The one column to randomise, and how many people the curator thinks there are."""

    columns = forms.ChoiceField(label=gettext_lazy("Column"), widget=forms.RadioSelect)
    people = forms.IntegerField(
        label=gettext_lazy("Your estimate of the number of people"),
        min_value=1,
        max_value=10**10,
        help_text=gettext_lazy("Used only to show what errors mean; it need not be exact."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["columns"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [(a.name, a.name) for a in self.declared.attributes]

    def chosen(self, draft: Release) -> dict[str, Any]:
        return {**super().chosen(draft), "columns": next(iter(draft.columns), None)}

    def apply(self, draft: Release) -> None:
        draft.columns, draft.people = [self.cleaned_data["columns"]], self.cleaned_data["people"]


@dataclass(frozen=True)
class Answers:
    """The reports, what they estimate, and the estimates made into the counts of a possible table."""

    reports: np.ndarray
    estimate: Estimate
    counts: np.ndarray

    @property
    def half_width(self) -> int:
        """In whole rows, an interval that holds for every value."""
        return math.ceil(float(self.estimate.half_width.max()))


class ResponseProduct(Product[Response, ResponsePlan, Answers]):
    """Every row's value is replaced by a noisy report; the reports and the estimated counts are released."""

    name = Release.Product.RESPONSE.value
    title = gettext_lazy("Randomised answers")
    summary = gettext_lazy(
        "One column, randomised row by row: anyone may download the answers, none of which gives its person away, "
        "with estimated counts. Less accurate than a histogram at the same cost."
    )
    readers_see = gettext_lazy("every randomised answer and the counts estimated from them")
    icon = "icon-response"
    form = ColumnForm
    choose_template = "releases/response/_choose.html"
    offers_template = "releases/response/_offers.html"
    review_template = "releases/response/_review.html"
    page_template = "releases/response/_page.html"
    compare_template = "releases/histogram/_compare.html"
    readme_template = "releases/response/readme.md"
    wanted = gettext_lazy("95 % interval of an estimated share")
    wanted_unit = gettext_lazy("% of all people")

    def unavailable(self, unit: PrivacyUnit) -> str:
        if unit.total_public:
            return ""
        return _(
            "One answer for each row shows how many rows there are, and that is private here. It is public only where "
            "each person has one row, one person is replaced by another, and nothing was promised before that hides it."
        )

    @property
    def mechanisms(self) -> Sequence[Response]:
        return registry.RESPONSES

    def check(self, domain: Domain) -> None:
        if len(domain.attributes) != 1:
            raise DraftError(_("Choose exactly one column."), "columns")

    def plan(
        self, method: Response, draft: Release, version: DomainVersion, domain: Domain, loss: Loss
    ) -> ResponsePlan:
        plan, rows = method.plan(domain, loss), draft.dataset.rows
        # The number of rows is public wherever rows may respond; what it rules out is said before any is read.
        if isinstance(rows, int) and (refusal := method.refusal(plan, rows)):
            raise PlanError(refusal)
        return plan

    def read_plan(self, value: Mapping[str, Any]) -> ResponsePlan:
        return ResponsePlan.from_json(value)

    def offer(self, plan: ResponsePlan, draft: Release, plans: Sequence[ResponsePlan] = ()) -> dict[str, Any]:
        people = draft.people or 1
        return {"half_width": math.ceil(plan.half_width(people)), "share": plan.half_width(people) / people}

    def wanted_error(self, plan: ResponsePlan, draft: Release) -> float | None:
        return 100 * plan.half_width(draft.people) / draft.people if draft.people else None

    def foreseen(self, plan: ResponsePlan, draft: Release) -> Verdict | None:
        if not draft.people:
            return None
        average, half_width = draft.people / plan.categories, math.ceil(plan.half_width(draft.people))
        return of_answers(half_width, average, _("An estimated count of average size"))

    def found(self, comparison: Mapping[str, Any]) -> Verdict | None:
        return usefulness.found(comparison["errors"])

    def suggested(self, draft: Release, plans: Mapping[str, ResponsePlan]) -> str:
        return min(plans, key=lambda name: plans[name].standard_error)

    def count(self, release: Release, plan: ResponsePlan, key: bytes) -> np.ndarray:
        version = release.domain_version
        assert version is not None
        return records.count(release.dataset, version, version.domain().project(release.columns), key)

    def rows_counted(self, plan: ResponsePlan, true: np.ndarray) -> int:
        return int(true.sum())

    def measure(self, plan: ResponsePlan, counts: np.ndarray, noise: Noise) -> Measurement:
        return registry.response(plan.mechanism).measure(plan, shuffled_codes(counts, noise), noise)

    def reconstruct(self, plan: ResponsePlan, measurement: Measurement) -> Answers:
        estimate = registry.response(plan.mechanism).estimate(plan, measurement)
        counts = lattice_simplex(estimate.counts, len(measurement.values))
        return Answers(measurement.values, estimate, counts)

    def tables(self, made: Made[ResponsePlan, Answers], folder: Path) -> list[Table]:
        domain = _domain(made)
        named = label_columns(domain)
        answers, estimates = folder / "answers.csv", folder / "estimates.csv"
        fields = _write_answers(made, named, answers)
        _write_estimates(made.result, named, estimates)
        return [
            Table(
                answers,
                "The randomised answers, a row for each person",
                fields,
                may_be_blank=domain.attributes[0].missing_cell,
            ),
            Table(
                estimates, "Estimated counts with standard errors and 95 % intervals", _estimate_fields(named)
            ),
            codebook.write(domain, folder),
        ]

    def page(self, made: Made[ResponsePlan, Answers]) -> dict[str, Any]:
        answers = made.result
        return {
            "figure": figure_json(_figure(made)),
            "table": _table(made),
            "interval": answers.half_width,
            "people": len(answers.reports),
        }

    def compare(self, made: Made[ResponsePlan, Answers], true: np.ndarray) -> dict[str, Any]:
        answers = made.result
        raw = whole(answers.estimate.counts)
        figures = {
            "counts": figure_json(_figure(made, true)),
            "residuals": figure_json(
                residuals_figure(
                    _domain(made), raw=raw, counts=answers.counts, true=true, half_width=answers.half_width
                )
            ),
        }
        return {
            "figures": figures,
            "errors": _errors(made, true),
            "header": [
                _domain(made).names[0],
                "estimate",
                "count",
                "interval_lower",
                "interval_upper",
                "true_count",
            ],
            "table": [[*row, int(t)] for row, t in zip(_table(made), true, strict=True)],
            "cells": len(true),
            "interval": answers.half_width,
        }

    def estimates(self, made: Made[ResponsePlan, Answers]) -> np.ndarray:
        """How many answers there are, and how many say each value: so that a reader's sum reads no answer."""
        reports = registry.response(made.plan.mechanism).report_counts(
            made.plan, Measurement(made.result.reports)
        )
        return np.array([len(made.result.reports), *reports], dtype=np.int64)

    def explored(self, release: Release, plan: ResponsePlan, question: QueryDict) -> dict[str, Any]:
        def answer(picks: Picks) -> CellSum:
            with kept.estimates(release) as (rows, *reports):
                return cell_sum(plan, np.array(reports), int(rows), picks[0])

        if not kept.has_estimates(release):
            return {}
        return explorer.explored(_released(release), question, answer)


def _domain(made: Made[ResponsePlan, Answers]) -> Domain:
    return _released(made.release)


def _released(release: Release) -> Domain:
    """The one column that is released."""
    assert release.domain_version is not None
    return release.domain_version.domain().project(release.columns)


def _labels(made: Made[ResponsePlan, Answers]) -> list[str]:
    return _domain(made).attributes[0].labels()


def _figure(made: Made[ResponsePlan, Answers], true: np.ndarray | None = None) -> Figure:
    answers = made.result
    return counts_figure(
        _domain(made),
        raw=whole(answers.estimate.counts),
        counts=answers.counts,
        half_width=answers.half_width,
        true=true,
    )


def _table(made: Made[ResponsePlan, Answers]) -> list[list[Any]]:
    """Rows of the page's table: value, estimate, count, interval."""
    answers = made.result
    estimate, half_width = answers.estimate.counts, answers.estimate.half_width
    numbers = (
        whole(n).tolist() for n in (estimate, answers.counts, estimate - half_width, estimate + half_width)
    )
    return [list(row) for row in zip(_labels(made), *numbers, strict=True)]


def _errors(made: Made[ResponsePlan, Answers], true: np.ndarray) -> dict[str, dict[str, Any]]:
    answers = made.result
    raw, counts = (
        observed_error(true, c, answers.half_width) for c in (whole(answers.estimate.counts), answers.counts)
    )
    expected = {
        "l1": float(answers.estimate.standard_error.sum() * math.sqrt(2 / math.pi)),
        "l2": float(np.linalg.norm(answers.estimate.standard_error)),
        "inside": LEVEL,
    }
    expected["total_variation"] = expected["l1"] / (2 * max(1, len(answers.reports)))
    fields = ("total_variation", "l1", "l2", "largest", "inside")
    return {
        f: {"expected": expected.get(f), "raw": getattr(raw, f), "counts": getattr(counts, f)} for f in fields
    }


def _write_answers(
    made: Made[ResponsePlan, Answers], named: list[LabelColumn], path: Path
) -> list[dict[str, str]]:
    """Write the reports; returns their Frictionless fields."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for start, frame in enumerate(_answer_frames(made, named)):
            inert_frame(frame).to_csv(file, index=False, header=start == 0, lineterminator="\n")
    if made.plan.mechanism == UnaryEncoding.name:
        labels = _labels(made)
        headers = _headers_of_bits(named[0].name, labels)
        return [
            {"name": header, "type": "integer", "title": label}
            for header, label in zip(headers, labels, strict=True)
        ]
    return [column.field() for column in named]


def _headers_of_bits(name: str, labels: list[str]) -> list[str]:
    """A column for each value."""
    return valid_names(f"{name}_{label}" for label in labels)


def _answer_frames(made: Made[ResponsePlan, Answers], named: list[LabelColumn]) -> Iterator[pd.DataFrame]:
    plan, reports = made.plan, made.result.reports
    texts = {column.name: np.array(column.labels, dtype=object) for column in named}
    for start in range(0, max(1, len(reports)), ROWS_AT_ONCE):
        some = reports[start : start + ROWS_AT_ONCE]
        if plan.mechanism == UnaryEncoding.name:
            yield pd.DataFrame(
                UnaryEncoding.bits(plan, some), columns=_headers_of_bits(named[0].name, _labels(made))
            )
        else:
            yield pd.DataFrame({name: labels[some] for name, labels in texts.items()})


def _write_estimates(answers: Answers, named: list[LabelColumn], path: Path) -> None:
    estimate = answers.estimate
    frame = pd.DataFrame(
        {
            **{column.name: column.labels for column in named},
            "estimate": estimate.counts,
            "count": answers.counts,
            "standard_error": estimate.standard_error,
            "interval_lower": estimate.counts - estimate.half_width,
            "interval_upper": estimate.counts + estimate.half_width,
        }
    )
    inert_frame(frame).to_csv(path, index=False, float_format="%.6g", lineterminator="\n")


def _estimate_fields(named: list[LabelColumn]) -> list[dict[str, str]]:
    numbers = ("estimate", "standard_error", "interval_lower", "interval_upper")
    ordered = ("estimate", "count", "standard_error", "interval_lower", "interval_upper")
    kinds = {n: "number" if n in numbers else "integer" for n in ordered}
    return [*(c.field() for c in named), *({"name": n, "type": k} for n, k in kinds.items())]
