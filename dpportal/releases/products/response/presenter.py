"""What the bundle and pages of randomised answers show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from django.http import QueryDict

from dpportal.charts.cell_names import cell_names
from dpportal.charts.counts import counts_figure, residuals_figure
from dpportal.charts.reader_counts import reader_figure
from dpportal.charts.style import Figure
from dpportal.platform.json_types import Json
from dpportal.publications import codebook
from dpportal.publications.extremes import is_certainly_largest
from dpportal.publications.table import Table
from dpportal.publications.verdict import Verdict
from dpportal.releases.models import Release
from dpportal.releases.products.response.runner import Answers
from dpportal.releases.products.shared import explorer, stored_estimates
from dpportal.releases.products.shared.figures import as_integers, figure_json
from dpportal.releases.products.shared.moved_people import moved_verdict
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.values import ReconstructedRelease
from mechanisms import registry
from mechanisms.box_queries import CellSum, Picks
from mechanisms.evaluate import observed_error
from mechanisms.protocol import Measurement
from mechanisms.response import ResponsePlan
from mechanisms.response_sums import cell_sum
from mechanisms.tabular.csv_frames import write_frame
from mechanisms.tabular.headers import valid_names
from mechanisms.tabular.label_columns import LabelColumn, label_columns
from mechanisms.tabular.sdmx import Observed

ROWS_AT_ONCE = 100_000
LEVEL = 0.95


class ResponsePresenter(Presenter[ResponsePlan, Answers]):
    """Every randomised answer, and the counts estimated from them."""

    main_table = "estimates.csv"

    def tables(self, reconstructed: ReconstructedRelease[ResponsePlan, Answers], folder: Path) -> list[Table]:
        domain = reconstructed.release.domain
        named = label_columns(domain)
        answers, estimates = folder / "answers.csv", folder / "estimates.csv"
        fields = _write_answers(reconstructed, named, answers)
        _write_estimates(reconstructed.result, named, estimates)
        return [
            Table(
                answers,
                "The randomised answers, a row for each person",
                fields,
                may_be_blank=domain.attributes[0].missing_cell,
            ),
            Table(
                estimates,
                "Estimated counts with standard errors and margins (95 %)",
                _estimate_fields(named),
                observed=[Observed("estimate", "interval_lower", "interval_upper", "standard_error")],
                aside=["count"],
            ),
            codebook.write(domain, folder),
        ]

    def page(self, reconstructed: ReconstructedRelease[ResponsePlan, Answers]) -> Json:
        answers = reconstructed.result
        return {
            "finding": _finding(reconstructed),
            "figure": figure_json(_published_figure(reconstructed)),
            "table": _table(reconstructed),
            "interval": answers.half_width,
            "people": len(answers.reports),
        }

    def compare(self, reconstructed: ReconstructedRelease[ResponsePlan, Answers], true: np.ndarray) -> Json:
        answers = reconstructed.result
        raw = as_integers(answers.estimate.counts)
        figures = {
            "counts": figure_json(_compared_figure(reconstructed, true)),
            "residuals": figure_json(
                residuals_figure(
                    reconstructed.release.domain,
                    raw=raw,
                    counts=answers.counts,
                    true=true,
                    half_width=answers.half_width,
                )
            ),
        }
        return {
            "figures": figures,
            "errors": _errors(reconstructed, true),
            "header": [
                reconstructed.release.domain.names[0],
                "estimate",
                "count",
                "interval_lower",
                "interval_upper",
                "true_count",
            ],
            "table": [[*row, int(t)] for row, t in zip(_table(reconstructed), true, strict=True)],
            "cells": len(true),
            "interval": answers.half_width,
        }

    def verdict(self, comparison: Json) -> Verdict | None:
        return moved_verdict(comparison["errors"])

    def stored_estimates(self, reconstructed: ReconstructedRelease[ResponsePlan, Answers]) -> np.ndarray:
        """How many answers there are, and how many say each value: so that a reader's sum reads no answer."""
        reports = registry.response(reconstructed.plan.mechanism).report_counts(
            reconstructed.plan, Measurement(reconstructed.result.reports)
        )
        return np.array([len(reconstructed.result.reports), *reports], dtype=np.int64)

    def explore(self, release: Release, plan: ResponsePlan, question: QueryDict) -> Json:
        def answer(picks: Picks) -> CellSum:
            with stored_estimates.estimates(release) as (rows, *reports):
                return cell_sum(
                    registry.response(plan.mechanism), plan, np.array(reports), int(rows), picks[0]
                )

        if not stored_estimates.has_estimates(release):
            return {}
        return explorer.explored(release.domain, question, answer)


def _labels(reconstructed: ReconstructedRelease[ResponsePlan, Answers]) -> list[str]:
    return reconstructed.release.domain.attributes[0].labels()


def _published_figure(reconstructed: ReconstructedRelease[ResponsePlan, Answers]) -> Figure:
    """Noisy counts, with adjusted ones in their place at a reader's choice."""
    answers = reconstructed.result
    return reader_figure(
        reconstructed.release.domain,
        raw=as_integers(answers.estimate.counts),
        counts=answers.counts,
        half_width=answers.half_width,
        margins=[answers.half_width],
    )


def _compared_figure(reconstructed: ReconstructedRelease[ResponsePlan, Answers], true: np.ndarray) -> Figure:
    answers = reconstructed.result
    return counts_figure(
        reconstructed.release.domain,
        raw=as_integers(answers.estimate.counts),
        counts=answers.counts,
        half_width=answers.half_width,
        true=true,
    )


def _table(reconstructed: ReconstructedRelease[ResponsePlan, Answers]) -> list[list[object]]:
    """Rows of the page's table: value, estimate, count, interval. A margin is rounded up, whatever its estimate is."""
    answers = reconstructed.result
    estimate, margin = as_integers(answers.estimate.counts), as_integers(np.ceil(answers.estimate.half_width))
    columns = (estimate, as_integers(answers.counts), estimate - margin, estimate + margin)
    numbers = (column.tolist() for column in columns)
    return [
        list(row)
        for row in zip(cell_names(reconstructed.release.domain.attributes[0]), *numbers, strict=True)
    ]


def _errors(reconstructed: ReconstructedRelease[ResponsePlan, Answers], true: np.ndarray) -> dict[str, Json]:
    answers = reconstructed.result
    raw, counts = (
        observed_error(true, c, answers.half_width)
        for c in (as_integers(answers.estimate.counts), answers.counts)
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


def _finding(reconstructed: ReconstructedRelease[ResponsePlan, Answers]) -> Json:
    """How many people answered, and the largest group where it is certainly that."""
    answers, domain = reconstructed.result, reconstructed.release.domain
    counts = as_integers(answers.estimate.counts)
    finding = {"people": len(answers.reports), "margin": 0, "columns": domain.shown_names[0]}
    *_others, second, largest = np.argsort(counts, kind="stable").tolist() if len(counts) > 1 else (0, 0)
    if not is_certainly_largest(counts[largest], counts[second], answers.half_width, len(counts)):
        return {**finding, "alike": len(counts) > 1}
    return {
        **finding,
        "largest": f"{domain.shown_names[0]} {cell_names(domain.attributes[0])[largest]}",
        "count": int(counts[largest]),
        "count_margin": answers.half_width,
    }


def _write_answers(
    reconstructed: ReconstructedRelease[ResponsePlan, Answers], named: list[LabelColumn], path: Path
) -> list[dict[str, str]]:
    """Write the reports; returns their Frictionless fields."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for start, frame in enumerate(_answer_frames(reconstructed, named)):
            write_frame(frame, file, header=start == 0)
    if registry.response(reconstructed.plan.mechanism).answers_each_value:
        labels = _labels(reconstructed)
        headers = _headers_of_bits(named[0].name, labels)
        return [
            {"name": header, "type": "integer", "title": label}
            for header, label in zip(headers, labels, strict=True)
        ]
    return [column.field() for column in named]


def _headers_of_bits(name: str, labels: list[str]) -> list[str]:
    """A column for each value."""
    return valid_names(f"{name}_{label}" for label in labels)


def _answer_frames(
    reconstructed: ReconstructedRelease[ResponsePlan, Answers], named: list[LabelColumn]
) -> Iterator[pd.DataFrame]:
    plan, reports = reconstructed.plan, reconstructed.result.reports
    method = registry.response(plan.mechanism)
    texts = {column.name: np.array(column.labels, dtype=object) for column in named}
    for start in range(0, max(1, len(reports)), ROWS_AT_ONCE):
        some = reports[start : start + ROWS_AT_ONCE]
        if method.answers_each_value:
            yield pd.DataFrame(
                method.bits(plan, some), columns=_headers_of_bits(named[0].name, _labels(reconstructed))
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
    # So many that a margin is in the digits of its ends, however many people there are.
    write_frame(frame, path, float_format="%.10g")


def _estimate_fields(named: list[LabelColumn]) -> list[dict[str, str]]:
    numbers = ("estimate", "standard_error", "interval_lower", "interval_upper")
    ordered = ("estimate", "count", "standard_error", "interval_lower", "interval_upper")
    kinds = {n: "number" if n in numbers else "integer" for n in ordered}
    return [*(c.field() for c in named), *({"name": n, "type": k} for n, k in kinds.items())]
