"""Whether the published tables are what post-processing makes of the measurement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.domain import MISSING_LABEL, Domain
from mechanisms.matrix.mechanism import QueryResult
from mechanisms.matrix.query_columns import query_columns, query_frame
from mechanisms.moments.estimates import ColumnEstimates, Interval, added_up, by_groups
from mechanisms.moments.plan import MomentsPlan
from mechanisms.postprocess import lattice_simplex
from mechanisms.protocol import Measurement
from mechanisms.synthesis.table import SMOOTH, public_seed, rows as simulated_rows
from mechanisms.tabular.codebook import TITLE, codebook_frame
from mechanisms.tabular.headers import Headers, valid_names
from mechanisms.tabular.label_columns import label_columns, with_codes
from mechanisms.verify import csv_file, microdata, series, strategy, summary
from mechanisms.verify.bundle import MARGINS, STREAM, Bundle
from mechanisms.verify.csv_file import ColumnValues, Numbers, texts
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.planned import Planned

ROWS, CODEBOOK, CELLS = "synthetic.csv", "codebook.csv", "cells.csv"
# Estimates by a strategy that was searched for are rounded before they are added up.
ROUNDED = 0.05
# Rows up to which they are drawn again.
MOST_ROWS = 2_000_000
ENDS = ("", "_lower", "_upper")


def check(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    """One finding a file that can be made again."""
    try:
        yield from CHECKERS[bundle.release["product"]](bundle, planned)
    except (LookupError, TypeError, ValueError) as fault:
        yield Finding(
            "numbers", State.FAILED, f"the measurement does not fit the plan ({type(fault).__name__})"
        )


def _labels(domain: Domain) -> dict[str, ColumnValues]:
    """The columns that name all cells of a domain, in order."""
    places = np.unravel_index(np.arange(domain.size), domain.shape) if domain.attributes else ()
    return {each.name: texts(each.labels)[places[each.axis]] for each in label_columns(domain)}


def _numbers(values: np.ndarray, digits: int = 6) -> ColumnValues:
    """Whole ones in full."""
    return values if values.dtype.kind in "iu" else Numbers(values, digits)


def _interval(values: np.ndarray, half: np.ndarray | float, digits: int = 6) -> dict[str, ColumnValues]:
    ends = {"interval_lower": values - half, "interval_upper": values + half}
    return {name: _numbers(np.asarray(end), digits) for name, end in ends.items()}


def _codebook(bundle: Bundle, domain: Domain) -> Finding:
    frame = codebook_frame(domain)
    columns = {str(name): texts(frame[name]) for name in frame.columns}
    return csv_file.compared(bundle, CODEBOOK, columns, "the declaration in the plan")


def _rows(bundle: Bundle, domain: Domain, counts: np.ndarray, within_bins: str) -> Finding:
    """Whether the synthetic rows are those that the measurement's digest draws, byte for byte."""
    if counts.sum() > MOST_ROWS:
        return Finding(ROWS, State.NOT_CHECKED, f"more than {MOST_ROWS:,} rows are not drawn again")
    seed = public_seed(str(bundle.release["measurement_sha256"]))
    frames = with_codes(simulated_rows(domain, counts, seed, within_bins), domain, Headers.of(domain))
    rows, other = csv_file.same_bytes(bundle, ROWS, frames)
    fault = f"among rows {(other - 1) * 100_000 + 1:,} to {other * 100_000:,} are others" if other else ""
    stated = bundle.release.get("synthetic_rows", rows)
    fault = fault or (f"it has {rows:,} rows, and release.json says {stated:,}" if rows != stated else "")
    return Finding.of(ROWS, fault, f"{rows:,} rows are those that the measurement's digest draws")


def _histogram(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    plan = planned.stated
    result = registry.mechanism(plan.mechanism).reconstruct(plan, Measurement(bundle.measurement))
    half = plan.half_width if result.half_width is None else result.half_width
    blank: ColumnValues = texts([""] * plan.domain.size)
    errors = dict.fromkeys(("standard_error", "interval_lower", "interval_upper"), blank)
    if half is not None:
        if plan.standard_error is not None:
            errors["standard_error"] = Numbers(np.full(plan.domain.size, plan.standard_error))
        errors |= _interval(result.raw, half)
    columns = {**_labels(plan.domain), "noisy_count": _numbers(result.raw), "count": result.counts, **errors}
    yield csv_file.compared(bundle, "histogram.csv", columns)
    yield _codebook(bundle, plan.domain)
    yield _chosen_method(bundle, result.method)
    yield _rows(bundle, plan.domain, result.counts, str(plan.parameters.get("within_bins", SMOOTH)))


def _chosen_method(bundle: Bundle, method: str | None) -> Finding:
    """The method that a noisy choice took, which the measurement has with it."""
    stated = bundle.release.get("chosen_method")
    fault = "" if stated == (method or None) else "release.json names another method than was chosen"
    return Finding.of("method", fault, f"{method or bundle.release['plan']['mechanism']}")


def _queries(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    plan, values = planned.stated, Measurement(bundle.measurement)
    method, within = registry.query_mechanism(plan.mechanism), 0.0
    result: QueryResult | None
    if planned.again is not None:
        result = method.reconstruct(plan, values)
    elif (result := strategy.result(bundle, plan)) is not None:
        within = ROUNDED
    number = plan.workload.queries
    yield Finding.of(
        "queries",
        "" if bundle.release.get("queries") == number else "release.json says another number",
        f"{number:,}",
    )
    if result is None:
        for name in {"answers.csv", CELLS, ROWS, CODEBOOK} & set(bundle.entries):
            yield Finding(name, State.NOT_CHECKED, "its strategy is too large to work them out again")
        return
    named = query_frame(plan, query_columns(plan), slice(0, number))
    answers, errors, halves = result.answers, result.standard_errors, result.half_widths
    bundle.worked_out[MARGINS] = halves
    numbers = (answers, errors, answers - halves, answers + halves)
    names = ("answer", "standard_error", "interval_lower", "interval_upper")
    columns: dict[str, ColumnValues] = {
        "number": np.arange(1, number + 1),
        "query": texts(plan.workload.labels(plan.domain)),
        **{str(name): texts(named[name]) for name in named.columns},
        **{
            name: Numbers(own, 10, scale=halves, within=within)
            for name, own in zip(names, numbers, strict=True)
        },
    }
    yield csv_file.compared(bundle, "answers.csv", columns)
    if result.estimate is not None and result.cells is not None and result.counts is not None:
        yield from _cells(bundle, plan.domain, (result.estimate, result.cells, result.counts), within)
    elif "synthetic_rows" in bundle.release:
        yield Finding(
            ROWS, State.FAILED, "release.json says how many rows there are, and such a plan makes none"
        )


def _cells(
    bundle: Bundle, domain: Domain, estimates: tuple[np.ndarray, np.ndarray, np.ndarray], within: float
) -> Iterator[Finding]:
    estimate, cell, count = estimates
    numbers: dict[str, ColumnValues] = {
        "estimate": Numbers(estimate, within=within),
        "cell": Numbers(cell, within=within),
        "count": count,
    }
    yield csv_file.compared(bundle, CELLS, {**_labels(domain), **numbers})
    yield _codebook(bundle, domain)
    yield _rows(bundle, domain, count, SMOOTH)


def _means(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    plan, sums = planned.stated, bundle.measurement
    yield csv_file.compared(
        bundle, "totals.csv", _statistics(plan, by_groups(plan, sums), _labels(plan.groups))
    )
    if in_all := added_up(plan, sums):
        yield csv_file.compared(bundle, "in_all.csv", _statistics(plan, in_all, {}))
    if plan.groups.attributes:
        yield _codebook(bundle, plan.groups)


def _statistics(
    plan: MomentsPlan, estimates: Sequence[ColumnEstimates], groups: Mapping[str, ColumnValues]
) -> dict[str, ColumnValues]:
    """Every column of such a file: the groups, what is measured, each statistic with both ends of its interval."""
    by_name = [_by_name(each) for each in estimates]
    lines = len(estimates[0].number.estimate)
    present = [name for name in by_name[0] if any(each[name] is not None for each in by_name)]
    nothing = Interval(*(np.full(lines, np.nan),) * 3)
    named = ["measured", *(name + end for name in by_name[0] for end in ENDS), "mean_unit"]
    headers = dict(zip(named, valid_names(named, list(groups)), strict=True))
    columns: dict[str, ColumnValues] = {
        name: np.tile(np.asarray(labels), len(estimates)) for name, labels in groups.items()
    }
    measured = [planned.column.attribute.name for planned in plan.columns for _line in range(lines)]
    columns[headers["measured"]] = texts(measured)
    for name in present:
        parts = [each[name] or nothing for each in by_name]
        low, high = (np.concatenate([getattr(part, end) for part in parts]) for end in ("lower", "upper"))
        own = np.concatenate([part.estimate for part in parts])
        for end, values in zip(ENDS, (own, low, high), strict=True):
            columns[headers[name + end]] = Numbers(values, 10, scale=high - low)
    units = [planned.column.mean_unit for planned in plan.columns for _line in range(lines)]
    return {**columns, headers["mean_unit"]: texts(units)} if any(units) else columns


def _by_name(own: ColumnEstimates) -> dict[str, Interval | None]:
    """What is told of a column, by the names of the files, in their order."""
    return {
        "number": own.number,
        "total": own.total,
        "mean": own.mean,
        "deviation": own.deviation,
        "without_value": own.missing,
        "share_at_low": own.at_lower,
        "share_at_high": own.at_upper,
    }


def _selection(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    picked, plan = bundle.measurement, planned.stated
    distinct = len(set(picked.tolist())) == plan.picks == picked.size
    if not distinct or not ((picked >= 0) & (picked < len(plan.candidates))).all():
        yield Finding("choice", State.FAILED, "what was measured is no choice among the candidates")
        return
    chosen = [plan.candidates[place] for place in picked]
    fault = "" if bundle.release.get("choice") == chosen else "release.json has another choice"
    if bundle.release.get("points_per_row") != plan.score.points_per_row:
        fault = fault or "release.json says another number of points"
    yield Finding.of("choice", fault, f"{plan.picks} of {len(plan.candidates):,} candidates")
    yield from _choice(bundle, chosen)


def _choice(bundle: Bundle, chosen: list[str]) -> Iterator[Finding]:
    """A value is named by its label, or by its code where it has no column of its own; a missing one by nothing."""
    table = csv_file.read(bundle, "choice.csv")
    labelled = "choice_label" in table.columns
    yield Finding.of("choice.csv", _fault_of_choice(table, chosen, labelled=labelled), "it has this choice")
    if labelled:
        reason = "codes in choice.csv are the portal's word: the plan has the labels beside them alone"
        yield Finding("choice.csv", State.STATED, reason)


def _fault_of_choice(table: pd.DataFrame, chosen: list[str], *, labelled: bool) -> str:
    allowed = [
        {inert_text, "" if candidate == MISSING_LABEL else inert_text}
        for candidate, inert_text in zip(chosen, texts(chosen), strict=True)
    ]
    if list(table.columns) != ["rank", "choice", *["choice_label"] * labelled]:
        return "it has other columns"
    if list(table["rank"]) != [str(rank) for rank in range(1, len(chosen) + 1)]:
        return "it has another number of choices, or in another order"
    named = table["choice_label" if labelled else "choice"]
    others = (
        rank
        for rank, (text, either) in enumerate(zip(named, allowed, strict=True), start=1)
        if text not in either
    )
    return f"choice {other} is another one" if (other := next(others, 0)) else ""


def _response(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    plan, reports = planned.stated, bundle.measurement
    method = registry.response(plan.mechanism)
    estimate = method.estimate(plan, Measurement(reports))
    labels = _stated_labels(bundle, plan.categories)
    yield Finding(CODEBOOK, State.HOLDS, "it has a value for each answer that the plan knows")
    columns = {
        **labels,
        "estimate": Numbers(estimate.counts, 10, scale=estimate.half_width),
        "count": lattice_simplex(estimate.counts, len(reports)),
        "standard_error": Numbers(estimate.standard_error, 10),
        **_interval(estimate.counts, estimate.half_width, 10),
    }
    yield csv_file.compared(bundle, "estimates.csv", columns)
    if method.answers_each_value:
        book = csv_file.read(bundle, CODEBOOK)
        means = [label or value for label, value in zip(book["label"], book["value"], strict=True)]
        named = valid_names(f"{next(iter(labels))}_{mean}" for mean in means)
        own = dict(zip(named, method.bits(plan, reports).T, strict=True))
    else:
        own = {name: np.asarray(words)[reports] for name, words in labels.items()}
    yield csv_file.compared(bundle, "answers.csv", own)


def _stated_labels(bundle: Bundle, categories: int) -> dict[str, np.ndarray]:
    """Of randomised answers, whose plan names no value: as the codebook has them. Raises ValueError."""
    book = csv_file.read(bundle, CODEBOOK)
    named = [name for name in book.columns if name != TITLE["name"]]
    if named != list(codebook_frame(Domain(())).columns) or len(book) != categories:
        raise ValueError("the codebook has other columns, or another number of values")
    [name], [labels_in] = book["name"].unique(), book["labels_in"].unique()
    columns = {name: book["value"].to_numpy(object)}
    if labels_in:
        columns[labels_in] = book["label"].where(book["value"] != "", "").to_numpy(object)
    return columns


def _stream(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    table = csv_file.read(bundle, series.NAME)
    yield series.periods(planned.stated, table, bundle.release["periods"])
    yield csv_file.compared(
        bundle, series.NAME, series.columns(planned.stated, table, bundle.release), "its running counts"
    )


CHECKERS: dict[str, Callable[[Bundle, Planned], Iterator[Finding]]] = {
    "histogram": _histogram,
    "queries": _queries,
    "means": _means,
    "selection": _selection,
    "response": _response,
    "summary": summary.check,
    "microdata": microdata.check,
    STREAM: _stream,
}
