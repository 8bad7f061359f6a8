"""Whether any table could have what was measured: it lies on the lattice, and within the extreme tails of its noise.

Rows only add up. So a sum to which no row adds less than 0 is at least 0, and where the number of rows is public it is
at most as many times what one row adds. What is measured may lie beyond that by as far as its noise goes. Noise goes
farther with a chance that is stated here for all numbers of a bundle together, whatever the records are (union bound).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse
from scipy.special import rel_entr

from mechanisms import registry
from mechanisms.continual.mechanism import StreamPlan
from mechanisms.matrix.answering import MatrixMechanism, strategy_of
from mechanisms.matrix.marginals.answering import MarginalMechanism
from mechanisms.matrix.marginals.laplace import WeightedMarginals
from mechanisms.matrix.strategy.joint import Uploaded
from mechanisms.matrix.strategy.product import Kronecker, Stacked, Strategy
from mechanisms.microdata.column_sums import sums_plan
from mechanisms.microdata.mechanism import margin_laws
from mechanisms.microdata.packing import unpack_measured
from mechanisms.microdata.tables import split
from mechanisms.moments.mechanism import LARGEST_SUM
from mechanisms.moments.plan import MomentsPlan
from mechanisms.noise.extremes import farthest, farthest_sum
from mechanisms.protocol import Measurement, NoisySums
from mechanisms.summary.counts import split_values
from mechanisms.summary.plan import LINE, MOMENTS, SummaryPlan, TablePlan
from mechanisms.verify import csv_file, microdata, series, strategy
from mechanisms.verify.bundle import STREAM, Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.planned import Planned

WHAT = "tails"
# The chance that honest numbers of a bundle are found to be beyond what they can be: 10^-12, of all of them together.
CHANCE = 1e-12
# Sums that are rounded down are less than 1 too small; floats near a bound are off by this part of it.
ROUNDED_DOWN, FLOATS = 1.0, 1e-12
ExtremeEnds = tuple[np.ndarray, np.ndarray]


def check(bundle: Bundle, planned: Planned) -> Iterator[Finding]:
    """One line: how many of the numbers were looked at, and whether one is beyond what any table could have."""
    product = bundle.release["product"]
    if product == "response":
        yield _reports(bundle, planned)
    elif product == STREAM:
        yield _running_counts(bundle, planned)
    elif product == "selection":
        yield Finding(WHAT, State.HOLDS, "a choice among the candidates, of which any could be made")
    else:
        fault = _off_the_lattice(bundle, planned)
        yield Finding(WHAT, State.FAILED, fault) if fault else _sums(bundle, planned)


def _bounds_text(looked_at: int, measured: int) -> str:
    among = f"{looked_at:,} of {measured:,} numbers"
    return f"{among} are no farther from what a table can have than noise goes but for a chance of 10^-12"


def _sums(bundle: Bundle, planned: Planned) -> Finding:
    parts = [part for part in SUMS[bundle.release["product"]](bundle, planned) if part.values.size]
    rows = _public_rows(planned.stated)
    ends = [_ends(part, rows) for part in parts]
    looked_at = sum(map(_looked_at, parts, ends))
    surprise = math.log(2 * max(1, looked_at) / CHANCE)
    for part, own in zip(parts, ends, strict=True):
        far, reach = _farthest_excess(part.values, *own), farthest(part.law, surprise) + ROUNDED_DOWN
        if far > reach:
            fault = f"a number is {far:.6g} beyond what any table could have, and its noise goes {reach:.6g}"
            return Finding(WHAT, State.FAILED, fault)
    return Finding(WHAT, State.HOLDS, _bounds_text(looked_at, bundle.measurement.size))


def _looked_at(part: NoisySums, ends: ExtremeEnds) -> int:
    """How many numbers of a part have an end to either side."""
    are_bounded = np.isfinite(ends[0]) | np.isfinite(ends[1])
    return int(np.broadcast_to(are_bounded, part.values.shape).sum())


def _farthest_excess(values: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """How far the number is beyond its ends that is farthest. Of 10^8 cells with the same ends no copy is made."""
    if low.ndim == high.ndim == 0:
        return max(float(low) - float(values.min()), float(values.max()) - float(high))
    return float(np.maximum(low - values, values - high).max())


def _ends(part: NoisySums, rows: int | None) -> ExtremeEnds:
    """The least and the most that each can be without noise; rows: how many there are, None where that is private."""
    least, most = (np.asarray(end, dtype=float) for end in (part.least, part.most))
    if rows is None:
        return np.where(least < 0, -np.inf, 0.0), np.where(most > 0, np.inf, 0.0)
    low, high = np.minimum(least, 0) * rows, np.maximum(most, 0) * rows
    return low - FLOATS * np.abs(low), high + FLOATS * np.abs(high)


def _public_rows(plan: object) -> int | None:
    """The public number of rows, where a plan has it."""
    total = getattr(plan, "total", None)
    if total is None:
        total = getattr(plan, "parameters", {}).get("total")
    return None if total is None else int(total)


def _histogram(bundle: Bundle, planned: Planned) -> list[NoisySums]:
    plan = planned.stated
    return registry.mechanism(plan.mechanism).noisy_sums(plan, bundle.measurement)


def _means(bundle: Bundle, planned: Planned) -> list[NoisySums]:
    return _moments(planned.stated, bundle.measurement)


def _moments(plan: MomentsPlan, sums: np.ndarray) -> list[NoisySums]:
    """A row adds a unit at most to the sums of a basis, and `at_bound` at most to the last two; to none less than 0."""
    parts = []
    for column, values in zip(plan.columns, sums, strict=True):
        noisy = values[:, column.basis.quiet :]
        most = np.full(noisy.shape[1], column.unit)
        most[-2:] = column.at_bound
        parts.append(NoisySums(noisy, column.noise, 0, most))
    return parts


def _off_the_lattice(bundle: Bundle, planned: Planned) -> str:
    """Sums without noise are those of a public number of rows, each of which adds a unit."""
    plan, values = planned.stated, bundle.measurement
    if isinstance(plan, MomentsPlan):
        moments = plan
    elif getattr(plan, "sums", False):
        moments, values = _column_sums(bundle, planned)
    else:
        return ""
    for column, own in zip(moments.columns, values, strict=True):
        quiet = own[:, : column.basis.quiet]
        if moments.total is not None and (quiet != column.unit * moments.total).any():
            return "a sum without noise is not that of the public number of rows"
        on_lattice = (quiet >= 0) & ((quiet % column.unit == 0) | (quiet == LARGEST_SUM))
        if not on_lattice.all():
            return "a sum without noise is no multiple of what a row adds"
    return ""


def _column_sums(bundle: Bundle, planned: Planned) -> tuple[MomentsPlan, np.ndarray]:
    """Of rows of many columns, the sums that were measured of columns besides."""
    moments, sums = sums_plan(planned.stated), unpack_measured(planned.stated, bundle.measurement)[2]
    assert sums is not None
    return moments, sums.reshape(len(moments.columns), 1, moments.sums)


def _summary(bundle: Bundle, planned: Planned) -> list[NoisySums]:
    plan: SummaryPlan = planned.stated
    parts = zip(plan.tables, split_values(plan, bundle.measurement), strict=True)
    return [NoisySums(values, table.noise, *_of_a_row(plan, table)) for table, values in parts]


def _of_a_row(plan: SummaryPlan, table: TablePlan) -> tuple[np.ndarray, np.ndarray]:
    """The least and the most that a row adds to each sum of a table, see `mechanisms.summary.counts`."""
    none, unit = np.zeros(table.sums), np.full(table.sums, table.unit)
    if table.kind == LINE:
        matrix = plan.strategies[plan.lines[table.name].cells].matrix
        return matrix.min(axis=1), matrix.max(axis=1)
    if table.kind == MOMENTS:  # how far from the middle, to either side; the two others are at least 0
        return np.array([-table.unit, 0, 0]), unit
    if table.centred:
        evenly = table.unit // table.sums
        return none - evenly, unit - evenly
    return none, unit


def _microdata(bundle: Bundle, planned: Planned) -> list[NoisySums]:
    """Counts of single columns, tables of pairs where the rows were made again, and sums of columns."""
    plan = planned.stated
    columns = split(unpack_measured(plan, bundle.measurement)[0], plan.domain.shape)
    parts = [NoisySums(counts, law) for counts, law in zip(columns, margin_laws(plan), strict=True)]
    if "rows" in bundle.worked_out:
        tables = microdata.fitted(bundle, plan).tables
        parts += [NoisySums(table.values, table.noise) for table in tables]
    return [*parts, *(_moments(*_column_sums(bundle, planned)) if plan.sums else [])]


def _queries(bundle: Bundle, planned: Planned) -> list[NoisySums]:
    """The sums to which every cell adds 0 or more; the number of rows is in no plan of queries."""
    plan, values = planned.stated, bundle.measurement
    method = registry.query_mechanism(plan.mechanism)
    if isinstance(method, WeightedMarginals):
        return [NoisySums(values, plan.noise)]
    if isinstance(method, MarginalMechanism):  # of departures from what smaller tables tell, and of all rows
        return [NoisySums(values[: int(method.measured(plan).sets[0] == ())], plan.noise)]
    if planned.again is not None and isinstance(method, MatrixMechanism):
        only_adds = _only_adds(strategy_of(method, plan))
    elif (matrix := strategy.matrix_of(bundle)) is not None:
        only_adds = _has_no_minus(matrix)
    else:
        product = strategy.product_in(bundle, plan, None)
        only_adds = np.zeros(values.size, bool) if product is None else _only_adds(product)
    return [NoisySums(values[only_adds], plan.noise)]


def _only_adds(own: Strategy) -> np.ndarray:
    """(p,) which of a strategy's sums have no weight below 0."""
    if isinstance(own, Stacked):
        return np.concatenate([_only_adds(part) for part in own.parts])
    if isinstance(own, Kronecker):
        signs = np.ones(1, dtype=bool)
        for factor in own.factors:
            signs = np.logical_and.outer(signs, _has_no_minus(factor.matrix())).ravel()
        return signs
    return _has_no_minus(own.matrix()) if isinstance(own, Uploaded) else np.zeros(own.size, dtype=bool)


def _has_no_minus(matrix: object) -> np.ndarray:
    rows = scipy.sparse.csr_array(matrix)
    least = np.minimum.reduceat(np.append(rows.data, 0), np.minimum(rows.indptr[:-1], rows.nnz))
    return np.where(np.diff(rows.indptr) > 0, least >= 0, True)


def _reports(bundle: Bundle, planned: Planned) -> Finding:
    """How often each value is reported: rows report one with a chance between `other` and `keep` each.

    A sum of n independent answers is above its mean by so much at most as rarely as n answers of the larger chance are,
    and below likewise: P(C >= n x) <= e^(-n KL(x, keep)), P(C <= n x) <= e^(-n KL(x, other)) (Chernoff, Hoeffding).
    """
    plan, reports = planned.stated, bundle.measurement
    method, rows = registry.response(plan.mechanism), len(bundle.measurement)
    shares = method.report_counts(plan, Measurement(reports)) / max(1, rows)
    surprise = math.log(2 * plan.categories / CHANCE)
    more = np.where(shares > float(plan.keep), rows * _divergence(shares, float(plan.keep)), 0)
    less = np.where(shares < float(plan.other), rows * _divergence(shares, float(plan.other)), 0)
    fault = "a value is reported by more or fewer rows than chance allows, whatever their values are"
    is_beyond = bool((np.maximum(more, less) > surprise).any())
    return Finding.of(WHAT, fault if is_beyond else "", _bounds_text(plan.categories, plan.categories))


def _divergence(shares: np.ndarray, chance: float) -> np.ndarray:
    """The relative entropy of answers that say yes so often, to those of a chance."""
    entropy: np.ndarray = rel_entr(shares, chance) + rel_entr(1 - shares, 1 - chance)
    return entropy


def _running_counts(bundle: Bundle, planned: Planned) -> Finding:
    """Running counts are at least 0, and never fall: neither they nor what a period adds is far below 0."""
    plan, table = planned.stated, csv_file.read(bundle, series.NAME)
    released = table["released_count"].to_numpy().astype(np.int64).reshape(-1, plan.request.series)
    surprise = math.log(2 * max(1, released.size) / CHANCE)
    fault = "a running count, or what a period adds to it, is farther below 0 than its noise goes"
    is_beyond = bool(too_low(plan, released, surprise).any())
    return Finding.of(WHAT, fault if is_beyond else "", _bounds_text(released.size, released.size))


def too_low(plan: StreamPlan, released: np.ndarray, surprise: float) -> np.ndarray:
    """(2, T, k) whether a running count, and what its period adds, is below 0 by what noise gives so rarely.

    Each is one true number and a weighted sum of noises, whose squared weights add up to its variance over the noise's.
    """
    periods, method = np.arange(1, len(released) + 1), registry.stream(plan.mechanism)
    numbers = np.stack([released, np.diff(released, axis=0, prepend=0)])
    variances = np.stack([method.variances(plan, periods), method.increment_variances(plan, periods)])
    if plan.noise.variance == 0:  # less than the least float, so that no weights are told by it
        return np.zeros(numbers.shape, dtype=bool)
    reach = farthest_sum(plan.noise, surprise) * np.sqrt(variances / plan.noise.variance)
    beyond: np.ndarray = numbers < -(reach + ROUNDED_DOWN)[..., None]
    return beyond


SUMS: dict[str, Callable[[Bundle, Planned], list[NoisySums]]] = {
    "histogram": _histogram,
    "means": _means,
    "summary": _summary,
    "microdata": _microdata,
    "queries": _queries,
}
