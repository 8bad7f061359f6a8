"""Whether the published numbers are what post-processing makes of the measurement."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from hashlib import sha256

import numpy as np
import pandas as pd

from mechanisms import registry
from mechanisms.arrays import Floats
from mechanisms.domain import Categorical, Domain
from mechanisms.moments.estimates import estimates
from mechanisms.postprocess import lattice_simplex
from mechanisms.protocol import Measurement
from mechanisms.synthesis.table import SMOOTH, rows
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.planned import Planned

# Files state floats to six digits or more; post-processing on another processor ends a little apart.
RELATIVE, ABSOLUTE = 1e-4, 1e-6
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
    plan = found.stated
    result = registry.mechanism(plan.mechanism).reconstruct(plan, Measurement(bundle.measurement))
    table = _read(bundle, "histogram.csv")
    same = {"noisy_count": result.raw, "count": result.counts}
    yield _compared("histogram.csv", table, same)
    half = plan.half_width if result.half_width is None else result.half_width
    if half is not None:
        ends = {"interval_lower": result.raw - half, "interval_upper": result.raw + half}
        yield _compared("intervals of histogram.csv", table, ends)
    if result.counts.sum() <= MOST_ROWS:
        yield _rows(bundle, plan.domain, result.counts, str(plan.parameters.get("within_bins", SMOOTH)))


def _rows(bundle: Bundle, domain: Domain, counts: np.ndarray, within_bins: str) -> Finding:
    """Whether the synthetic rows are those that the measurement's digest draws."""
    what = "synthetic.csv"
    seed = sha256(str(bundle.release["measurement_sha256"]).encode()).digest()
    drawn = pd.concat(rows(domain, counts, seed, within_bins), ignore_index=True)
    named = {fact["column"]: fact["name"] for fact in bundle.release.get("columns", [])}
    own = pd.read_csv(io.StringIO(drawn.to_csv(index=False)), dtype=str, keep_default_na=False)
    published = _read(bundle, what)
    if len(own) != len(published):
        return Finding(
            what, State.FAILED, f"it has {len(published):,} rows, and the counts make {len(own):,}"
        )
    for attribute in domain.attributes:
        column = attribute.name
        if isinstance(attribute, Categorical) and attribute.has_codes:
            own[column] = own[column].replace(dict(zip(attribute.labels(), attribute.codes(), strict=True)))
        theirs = published[named.get(column, column)].str.removeprefix("'")
        if differing := _first_other(own[column].str.removeprefix("'"), theirs):
            return Finding(what, State.FAILED, f"row {differing:,} has another {column}")
    return Finding(what, State.HOLDS, f"{len(own):,} rows are those that the measurement's digest draws")


def _queries(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    plan = found.stated
    if found.again is None:
        yield Finding("answers.csv", State.NOT_CHECKED, "its strategy was searched for, or uploaded")
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
    yield _compared("answers.csv", _read(bundle, "answers.csv"), same)


def _means(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    plan, sums = found.stated, bundle.measurement
    made = [estimates(column, plan.degree, own) for column, own in zip(plan.columns, sums, strict=True)]
    same = {
        "number": np.concatenate([each.number.estimate for each in made]),
        "mean": np.concatenate([each.mean.estimate for each in made]),
        "mean_lower": np.concatenate([each.mean.lower for each in made]),
        "mean_upper": np.concatenate([each.mean.upper for each in made]),
    }
    yield _compared("totals.csv", _read(bundle, "totals.csv"), same)


def _selection(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    picked, plan = bundle.measurement, found.stated
    distinct = len(set(picked.tolist())) == plan.picks == picked.size
    inside = bool(((picked >= 0) & (picked < len(plan.candidates))).all())
    fault = "" if distinct and inside else "what was measured is no choice among the candidates"
    yield Finding.of("choice", fault, f"{plan.picks} of {len(plan.candidates):,} candidates")
    fault = "" if len(_read(bundle, "choice.csv")) == plan.picks else "it has another number of choices"
    yield Finding.of("choice.csv", fault, f"{plan.picks} lines")


def _response(bundle: Bundle, found: Planned) -> Iterator[Finding]:
    plan, measurement = found.stated, Measurement(bundle.measurement)
    estimate = registry.response(plan.mechanism).estimate(plan, measurement)
    same = {"estimate": estimate.counts, "count": lattice_simplex(estimate.counts, len(measurement.values))}
    yield _compared("estimates.csv", _read(bundle, "estimates.csv"), same)


def _read(bundle: Bundle, name: str) -> pd.DataFrame:
    """A CSV file of the bundle, as texts. Raises KeyError if there is none."""
    content = io.BytesIO(bundle.content(name))
    return pd.read_csv(content, dtype=str, keep_default_na=False, skip_blank_lines=False)


def _compared(what: str, table: pd.DataFrame, same: dict[str, Floats | np.ndarray]) -> Finding:
    """Whether columns of numbers are what they should be; nothing where there is none."""
    for name, made in same.items():
        stated = pd.to_numeric(table[name], errors="coerce").to_numpy(float)
        if len(stated) != len(made):
            return Finding(what, State.FAILED, f"it has {len(stated):,} lines, and should have {len(made):,}")
        near = np.isclose(stated, np.asarray(made, float), rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True)
        if not near.all():
            return Finding(what, State.FAILED, f"line {int(np.argmin(near)) + 1:,} has another {name}")
    return Finding(what, State.HOLDS, f"{len(table):,} lines follow from the measurement")


def _first_other(own: pd.Series[str], theirs: pd.Series[str]) -> int:
    """The first row, from 1, at which two columns of texts differ; 0 if none."""
    same = own.to_numpy() == theirs.to_numpy()
    return 0 if same.all() else int(np.argmin(same)) + 1


CHECKERS: dict[str, Callable[[Bundle, Planned], Iterator[Finding]]] = {
    "histogram": _histogram,
    "queries": _queries,
    "means": _means,
    "selection": _selection,
    "response": _response,
}
