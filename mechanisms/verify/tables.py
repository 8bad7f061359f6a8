"""Whether the published numbers are what post-processing makes of the measurement."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.arrays import Floats
from mechanisms.inert_text import inert
from mechanisms.moments.estimates import ColumnEstimates, by_groups, together
from mechanisms.postprocess import lattice_simplex
from mechanisms.protocol import Measurement
from mechanisms.synthesis.table import SMOOTH
from mechanisms.verify import cells, series, strategy
from mechanisms.verify.bundle import STREAM, Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.planned import Planned

# Files state floats to six digits or more; post-processing on another processor ends a little apart.
RELATIVE, ABSOLUTE, ROUNDED = 1e-4, 1e-6, 0.05
# Rows up to which they are drawn again.
MOST_ROWS = 2_000_000


def check(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    """One finding a file that can be made again."""
    checker = CHECKERS.get(bundle.release["product"])
    if checker is None:
        yield Finding(
            "numbers",
            State.NOT_CHECKED,
            "its numbers come from fits in floats, which are not repeated",
        )
        return
    try:
        yield from checker(bundle, found)
    except (LookupError, TypeError, ValueError) as fault:
        yield Finding(
            "numbers", State.FAILED, f"the measurement does not fit the plan ({type(fault).__name__})"
        )


def _histogram(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    plan, name = found.stated, "histogram.csv"
    result = registry.mechanism(plan.mechanism).reconstruct(plan, Measurement(bundle.measurement))
    table = _read(bundle, name)
    yield Finding.of(
        f"cells of {name}", cells.fault(bundle, table, plan.domain), "each line has its cell's labels"
    )
    yield _compared(name, table, {"noisy_count": result.raw, "count": result.counts})
    half = plan.half_width if result.half_width is None else result.half_width
    if half is not None:
        ends = {"interval_lower": result.raw - half, "interval_upper": result.raw + half}
        error = np.full(len(result.raw), plan.standard_error or np.nan)
        yield _compared(f"intervals of {name}", table, {"standard_error": error, **ends})
    if result.counts.sum() > MOST_ROWS:
        yield Finding(cells.ROWS, State.NOT_CHECKED, f"more than {MOST_ROWS:,} rows are not drawn again")
    else:
        within = str(plan.parameters.get("within_bins", SMOOTH))
        yield cells.rows(bundle, _read(bundle, cells.ROWS), plan.domain, result.counts, within)


def _queries(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    plan, name = found.stated, "answers.csv"
    table = _read(bundle, name)
    labels = list(plan.workload.labels(plan.domain))
    fault = "" if [inert(label) for label in labels] == list(table["query"]) else "its queries are others"
    yield Finding.of(f"queries of {name}", fault, f"{len(labels):,} queries are those of the plan")
    if found.again is None:
        yield _by_own_strategy(bundle, found, table)
        return
    result = registry.query_mechanism(plan.mechanism).reconstruct(
        found.again, Measurement(bundle.measurement)
    )
    same = {
        "answer": result.answers,
        "standard_error": result.standard_errors,
        "interval_lower": result.answers - result.half_widths,
        "interval_upper": result.answers + result.half_widths,
    }
    yield _compared(name, table, same)


def _by_own_strategy(bundle: Bundle, found: Planned, table: pd.DataFrame) -> Finding:
    """Answers by a strategy that was searched for, or uploaded; estimates of cells were rounded before."""
    same = strategy.answers(bundle, found.stated)
    if same is None:
        return Finding("answers.csv", State.NOT_CHECKED, "its strategy is too large to work them out again")
    return _compared("answers.csv", table, same, ROUNDED)


def _means(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    plan, sums = found.stated, bundle.measurement
    yield _statistics(bundle, "totals.csv", by_groups(plan, sums))
    if in_all := together(plan, sums):
        yield _statistics(bundle, "in_all.csv", in_all)


def _statistics(bundle: Bundle, name: str, made: Sequence[ColumnEstimates]) -> Finding:
    """Every number of such a file: the last columns, each statistic with both ends of its interval."""
    told = [[e.number, e.total, e.mean, e.deviation, e.missing, e.at_lower, e.at_upper] for e in made]
    present = [place for place in range(len(told[0])) if any(each[place] is not None for each in told)]
    columns = []
    for place in present:
        intervals = [each[place] for each in told]
        for end in ("estimate", "lower", "upper"):
            parts = [
                _nothing(e) if own is None else getattr(own, end)
                for e, own in zip(made, intervals, strict=True)
            ]
            columns.append(np.concatenate(parts))
    table = _read(bundle, name)
    last = table.columns[len(table.columns) - len(columns) :]
    return _compared(name, table, dict(zip(last, columns, strict=True)))


def _nothing(made: ColumnEstimates) -> Floats:
    return np.full(len(made.number.estimate), np.nan)


def _selection(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    picked, plan = bundle.measurement, found.stated
    distinct = len(set(picked.tolist())) == plan.picks == picked.size
    if not distinct or not ((picked >= 0) & (picked < len(plan.candidates))).all():
        yield Finding("choice", State.FAILED, "what was measured is no choice among the candidates")
        return
    chosen = [plan.candidates[place] for place in picked]
    fault = "" if bundle.release.get("choice") == chosen else "release.json has another choice"
    yield Finding.of("choice", fault, f"{plan.picks} of {len(plan.candidates):,} candidates")
    table = _read(bundle, "choice.csv")
    fault = cells.fault_of_choice(table, chosen, bundle)
    yield Finding.of("choice.csv", fault, "it has this choice")


def _response(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    plan, reports = found.stated, bundle.measurement
    method = registry.response(plan.mechanism)
    estimate = method.estimate(plan, Measurement(reports))
    table, answers = _read(bundle, "estimates.csv"), _read(bundle, "answers.csv")
    same = {
        "estimate": estimate.counts,
        "count": lattice_simplex(estimate.counts, len(reports)),
        "standard_error": estimate.standard_error,
        "interval_lower": estimate.counts - estimate.half_width,
        "interval_upper": estimate.counts + estimate.half_width,
    }
    yield _compared("estimates.csv", table, same)
    if method.answers_each_value:
        bits = dict(zip(answers.columns, method.bits(plan, reports).T, strict=True))
        yield _compared("answers.csv", answers, bits)
    else:
        first = table.columns[0]
        fault = cells.first_other(table[first].to_numpy()[reports], answers[first].to_numpy())
        yield Finding.of(
            "answers.csv", f"row {fault:,} is another answer" if fault else "", f"{len(answers):,} answers"
        )


def _stream(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    table = _read(bundle, series.NAME)
    yield series.periods(found.stated, table, bundle.release["periods"])
    yield _compared(series.NAME, table, series.same_columns(found.stated, table))


def _read(bundle: Bundle, name: str) -> pd.DataFrame:
    """A CSV file of the bundle, as texts. Raises KeyError if there is none."""
    content = io.BytesIO(bundle.content(name))
    return pd.read_csv(content, dtype=str, keep_default_na=False, skip_blank_lines=False)


def _compared(
    what: str, table: pd.DataFrame, same: dict[str, Floats | np.ndarray], absolute: float = ABSOLUTE
) -> Finding:
    """Whether columns of numbers are what they should be; nothing where there is none."""
    for name, made in same.items():
        stated = pd.to_numeric(table[name], errors="coerce").to_numpy(float)
        if len(stated) != len(made):
            return Finding(what, State.FAILED, f"it has {len(stated):,} lines, and should have {len(made):,}")
        # Whole numbers are written in full.
        relative, off = (0.0, 0.0) if np.asarray(made).dtype.kind in "iu" else (RELATIVE, absolute)
        near = np.isclose(stated, np.asarray(made, float), rtol=relative, atol=off, equal_nan=True)
        if not near.all():
            return Finding(what, State.FAILED, f"line {int(np.argmin(near)) + 1:,} has another {name}")
    return Finding(what, State.HOLDS, f"{len(table):,} lines follow from the measurement")


CHECKERS: dict[str, Callable[[Bundle, Planned], Iterator[Finding]]] = {
    "histogram": _histogram,
    "queries": _queries,
    "means": _means,
    "selection": _selection,
    "response": _response,
    STREAM: _stream,
}
