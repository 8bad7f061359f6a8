"""Table 1 of the bundled census table: how wide its intervals are, beside OpenDP at the same split of the same budget.

All 15 columns by sex. Half-widths of 95 % intervals are those of the 10,771 women; of OpenDP, which states none for a
ratio, the 95 % quantile of its errors. It measures each value's count and the number of women by its count, means by
its sum, the median by its noisy maximum with a fifth of the share that quantiles have, five of which are told. What
the bounds force: see `forced`.
"""

from __future__ import annotations

import gzip
import json
import math
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import numpy as np
import opendp.prelude as dp
import pandas as pd

import dpportal
from dpportal.tables import convert, count_tables, power_sums
from mechanisms.accounting import Definition, Loss
from mechanisms.arrays import Floats, Integers
from mechanisms.domain import Attribute, Categorical, Domain, Integer
from mechanisms.domain.product import attribute_from_json
from mechanisms.noise import Noise
from mechanisms.noise.sum_quantiles import reach
from mechanisms.summary.column_estimates import CategoryEstimates, Summary
from mechanisms.summary.counts import column_counts, exact_values, readings, split_values, stepwise
from mechanisms.summary.estimates import estimates
from mechanisms.summary.fusion import Model
from mechanisms.summary.mechanism import ColumnTables
from mechanisms.summary.plan import CELLS, LINE, MOMENTS, SummaryPlan, TablePlan
from mechanisms.summary.truth import true_summary
from tests.mechanisms.summary.counting import counted

FOLDER = Path(dpportal.__file__).parent / "datasets" / "demonstration"
FNLWGT = Integer("fnlwgt", lower=0, upper=1_499_999)
RUNS = 400
WOMEN, MEDIAN = 0, 2
# Points of a share, years of a mean age, and times the forced half-width of a mean capital gain, at most.
TARGETS = {
    Loss(Definition.ZCDP, Fraction(1, 10)): (0.25, 0.15, 1.1),
    Loss(Definition.PURE, Fraction(1)): (0.6, 0.4, math.inf),
}
# Columns, groups and rows; rows of the file that is read, and of a smaller one in which all values are found already.
LARGE = (500, 20, 10_000_000)
ROWS, FEW_ROWS = 1_000_000, 200_000
# Of each, whose least time counts: what the first one does once, and other processes, would be multiplied by fifty.
TRIES = 3


@dataclass(frozen=True)
class Census:
    """The table by codes: group, and each column's cells or numbers."""

    groups: Attribute
    columns: tuple[Attribute, ...]
    group: Integers
    values: dict[str, Integers]


def census() -> Census:
    with gzip.open(FOLDER / "adult.csv.gz") as file:
        table = pd.read_csv(file, skipinitialspace=True)
    declared = json.loads((FOLDER / "codebook.json").read_text())
    attributes = {n: attribute_from_json({"name": n, **own}) for n, own in declared.items()} | {
        "fnlwgt": FNLWGT
    }
    values = {name: _coded(table[name], attributes[name]) for name in table.columns}
    columns = tuple(attributes[name] for name in table.columns if name != "sex")
    return Census(attributes["sex"], columns, values["sex"], values)


def _coded(column: pd.Series, attribute: Attribute) -> Integers:
    if not isinstance(attribute, Categorical):
        return column.to_numpy(dtype=np.int64)
    cells = dict(zip(attribute.values, attribute.places, strict=True))
    return column.map(lambda value: cells.get(value, attribute.other)).to_numpy(dtype=np.int64)


def half_widths(plan: SummaryPlan, exact: Integers, true: Summary) -> tuple[dict[str, float], float]:
    """Stated half-widths of the women's widest share, mean age and capital gain, median age; and how many hold."""
    many = replace(plan, groups=Domain((Integer("run", lower=1, upper=RUNS),)))
    tables = split_values(plan, exact)
    tiled = np.concatenate([np.tile(part[[WOMEN]], (RUNS, 1)).ravel() for part in tables])
    told = estimates(many, ColumnTables().measure(many, tiled, Noise()).values)
    rows = np.arange(RUNS)
    found, held = {"share": 0.0}, []
    for attribute, column, truth in zip(plan.columns, told.columns, true.columns, strict=True):
        parts = (
            {"share": (column.shares, truth.shares)}
            if isinstance(column, CategoryEstimates) and isinstance(truth, CategoryEstimates)
            else {
                f"{word} {attribute.name}": (getattr(column, n), getattr(truth, n))
                for n, word in (("mean", "mean"), ("quantiles", "median"))
            }
        )
        for name, (interval, right) in parts.items():
            halves = (interval.upper[rows] - interval.lower[rows]) / 2
            middle = np.median(halves, axis=0)
            widest = float(middle[MEDIAN] if name.startswith("median") else middle.max())
            found[name] = max(found.get(name, 0.0), widest)
            exactly = right.estimate[WOMEN]
            held.append((interval.lower[rows] <= exactly + 1e-9) & (exactly - 1e-9 <= interval.upper[rows]))
    return found, float(np.mean([np.mean(hits) for hits in held]))


def forced(plan: SummaryPlan, name: str, people: float, mean: float) -> float:
    """What the bounds force: a person at the farther one moves the mean by so much that no unbiased estimate can hide.

    Of what is measured, Σu and the number of people with a value move by 1 each; any unbiased estimate of a mean that
    moves by d has at least the variance d² over the sum of their precisions (Hammersley, Robbins 1950; Cramér, Rao).
    """
    model, measured = Model(plan), plan.lines[name].measured
    moved = max(float(measured.top) - mean, mean - float(measured.lower)) / people
    number = float(model.covariance(name)[:-1, :-1].sum())
    return reach(model.law) * moved / math.sqrt(1 / model.moment_variances(name)[0] + 1 / number)


def opendp(plan: SummaryPlan, table: Census) -> dict[str, float]:
    """95 % quantiles of the errors of its own counts, sums and noisy maxima."""
    women = table.group == WOMEN
    people = int(women.sum())
    number = people + _noise(plan, plan.tables[0], 1)
    found = {"share": 0.0}
    for column, attribute in ((t, a) for t in plan.tables for a in plan.columns if t.name == a.name):
        own = table.values[attribute.name][women]
        if column.kind == CELLS:
            for count in np.bincount(own):
                error = (count + _noise(plan, column, 1)) / number - count / people
                found["share"] = max(found["share"], _reached(error))
        if column.kind == MOMENTS:
            assert isinstance(attribute, Integer)
            clipped = np.clip(own, attribute.lower, attribute.upper)
            total = clipped.sum() + _noise(plan, column, max(abs(attribute.lower), abs(attribute.upper)))
            found[f"mean {attribute.name}"] = _reached(total / number - clipped.mean())
        if column.kind == LINE and attribute.name == "age":
            found["median age"] = _median_error(plan, column, own)
    return found


def _reached(errors: Floats) -> float:
    return float(np.quantile(np.abs(errors), 0.95))


def _noise(plan: SummaryPlan, table: TablePlan, sensitivity: int) -> Floats:
    zeros = dp.vector_domain(dp.atom_domain(T="i64"))
    share, runs = float(plan.loss.amount * table.share), 20 * RUNS
    if plan.loss.definition is Definition.PURE:
        drawn = dp.m.make_laplace(zeros, dp.l1_distance(T="i64"), scale=sensitivity / share)
    else:
        drawn = dp.m.make_gaussian(zeros, dp.l2_distance(T="i64"), scale=sensitivity / math.sqrt(2 * share))
    return np.array(drawn([0] * runs), dtype=np.float64)


def _median_error(plan: SummaryPlan, table: TablePlan, values: Integers) -> float:
    candidates, share = list(range(17, 91)), float(plan.loss.amount * table.share) / 5
    rows = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    scores = dp.t.make_quantile_score_candidates(*rows, candidates, 0.5)
    pure = plan.loss.definition is Definition.PURE
    measure = dp.max_divergence() if pure else dp.zero_concentrated_divergence()

    def chosen(scale: float) -> dp.Measurement:
        return scores >> dp.m.then_noisy_max(measure, scale, negate=True)

    scale = dp.binary_search_param(chosen, d_in=1, d_out=share)
    own, right = chosen(scale), float(np.quantile(values, 0.5, method="inverted_cdf"))
    return _reached(np.array([candidates[own(values.tolist())] - right for _ in range(100)]))


def large(rows: int) -> tuple[float, float, float]:
    """Processor seconds and GB of a large summary, from its stored file to what is told, and seconds of the floor.

    rows: of the file, from which the time of counting is extrapolated to those of `LARGE`, by what it takes for more
    rows than `FEW_ROWS`: what different values mean is asked once, however many rows have them. Plan, noise and
    estimates are counted once. The floor is DuckDB's own sum or largest value of each column of the same file, which
    means nothing yet.
    """
    columns, groups, people = LARGE
    group = Categorical("g", values=tuple(map(str, range(groups - 1))))
    declared: list[Attribute] = [
        Integer(f"x{i}", True, 0, 20 * (i + 1))
        if i % 2
        else Categorical(f"x{i}", True, values=tuple("abcdefgh"))
        for i in range(columns)
    ]
    with TemporaryDirectory() as folder:
        few, many = (_written(Path(folder), declared, number) for number in (FEW_ROWS, rows))
        tries = [[_summarised(path, group, declared, people) for _ in range(TRIES)] for path in (few, many)]
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        of_few, of_many = (min(_floor(path) for _ in range(TRIES)) for path in (few, many))
        further = (people - FEW_ROWS) / (rows - FEW_ROWS)
        floor = of_few + (of_many - of_few) * further
    counting = [min(counted for counted, _rest in of_file) for of_file in tries]
    rest = min(rest for _counted, rest in tries[1])
    return rest + counting[0] + (counting[1] - counting[0]) * further, memory, floor


def _written(folder: Path, declared: Sequence[Attribute], rows: int) -> Path:
    """A stored upload of so many rows: the groups, and values that are spread evenly."""
    file, path = folder / f"{rows}.csv", folder / f"{rows}.parquet"
    values = [
        f"hash(i * 1009 + {place}) % {attribute.upper + 1} AS {attribute.name}"
        if isinstance(attribute, Integer)
        else f"substr('abcdefgh', 1 + (hash(i * 1013 + {place}) % 8)::INT, 1) AS {attribute.name}"
        for place, attribute in enumerate(declared)
    ]
    selected = ", ".join([f"hash(i * 7919) % {LARGE[1] - 1} AS g", *values])
    with duckdb.connect() as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(f"COPY (SELECT {selected} FROM range({rows}) AS t(i)) TO '{file}' (HEADER)")
    convert(file, path, file.name)
    file.unlink()
    return path


def _summarised(
    path: Path, group: Attribute, declared: Sequence[Attribute], people: int
) -> tuple[float, float]:
    """Seconds of counting, and of all else."""
    begin = time.process_time()
    groups = Domain((group,))
    plan = ColumnTables().plan(groups, declared, (), Loss(Definition.ZCDP, Fraction(1)), people)
    read, steps = readings(plan), stepwise(plan)
    domain = Domain((group, *(reading.counted(steps) for reading in read)))
    planned = time.process_time()
    flat = count_tables(path, domain, [["g", name] for name in domain.names[1:]])
    ends = np.cumsum([groups.size * size for size in domain.shape[1:]])[:-1]
    tables = [table.reshape(groups.size, -1) for table in np.split(flat, ends)]
    others = [r.steps for r in read if r.steps and r.cells.name not in steps]
    powers = power_sums(path, groups, others) if others else np.zeros((0, groups.size, 6), dtype=object)
    counted_at = time.process_time()
    counts = column_counts(read, steps, tables, powers)
    exact = exact_values(plan, counts[0].cells.sum(axis=1), counts)
    estimates(plan, ColumnTables().measure(plan, exact, Noise()).values)
    return counted_at - planned, planned - begin + time.process_time() - counted_at


def _floor(path: Path) -> float:
    begin = time.process_time()
    with duckdb.connect() as connection:
        types = connection.execute(f"DESCRIBE SELECT * FROM '{path}'").fetchall()
        of = {"DOUBLE": "sum", "VARCHAR": "max"}
        columns = [f"{of[kind]}({name})" for name, kind, *_ in types if not name.startswith("t")]
        connection.execute(f"SELECT {', '.join(columns)} FROM '{path}'").fetchall()
    return time.process_time() - begin


def census_lines() -> None:
    """A line for each loss and statistic of the census table."""
    dp.enable_features("contrib")
    table = census()
    people = float((table.group == WOMEN).sum())
    gains = table.values["capital-gain"][table.group == WOMEN]
    print(
        "".join(f"{t:>20}" for t in ("loss", "what", "half-width", "at most", "OpenDP", "inside", "reached"))
    )
    for loss, (share, age, gain) in TARGETS.items():
        plan = ColumnTables().plan(Domain((table.groups,)), table.columns, (), loss, len(table.group))
        exact = counted(plan, table.group, table.values)
        found, inside = half_widths(plan, exact, true_summary(plan, exact))
        rival = opendp(plan, table)
        most = {
            "share": share / 100,
            "mean age": age,
            "mean capital-gain": gain * forced(plan, "capital-gain", people, gains.mean()),
            "median age": math.inf,
        }
        for name, target in most.items():
            numbers = "".join(f"{x:>20.4g}" for x in (found[name], target, rival[name], inside))
            print(
                f"{loss!s:>20}{name:>20}{numbers}{'yes' if found[name] <= target and inside >= 0.95 else 'NO':>20}"
            )


def large_line(rows: int = ROWS) -> None:
    """What a summary of many columns and rows takes."""
    seconds, memory, floor = large(rows)
    verdict = "yes" if seconds <= 60 and memory <= 1 else "NO"
    columns, groups, people = LARGE
    print(
        f"{columns} columns, {groups} groups, {people:,} rows, from the stored file (of {rows:,}):", end=" "
    )
    print(f"{seconds:.0f} s of a processor, {memory:.2f} GB: {verdict}; DuckDB's sums alone {floor:.0f} s")
