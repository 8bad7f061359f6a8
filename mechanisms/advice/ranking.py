"""Which method to take, decided before any budget is spent and without data.

Every method is tried on made-up tables of public shapes with the curator's own statement of n. The shapes stand
for what columns look like: people spread evenly; gathered around a middle (ages, marks); falling off by a power law,
slowly or steeply (ranks, amounts); in few stretches of cells (codes); nearly all in the first cell and the others
around a middle (an amount that is zero for most). But for the first, cells differ unevenly from their neighbours.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mechanisms.accounting import Loss
from mechanisms.arrays import Floats
from mechanisms.domain import Domain, Integer
from mechanisms.noise import Noise, repeatable
from mechanisms.protocol import Mechanism, Plan, PlanError

PURPOSES = ("cells", "ranges", "totals")
SHAPES = ("uniform", "hump", "power law", "steep power law", "sparse", "first cell")
MAX_MODEL_CELLS = 4096
RANGES = 1000
# A hump has its top at this share of an axis and this standard deviation; not in the middle, where blocks are halved.
TOP, SPREAD = 0.4, 0.15
SLOW, STEEP = 1.0, 1.5
FIRST = 0.9
# A sparse table has its people in this share of the cells, in so many stretches.
OCCUPIED = 0.05
STRETCHES = 5
# How much better on made-up tables a method must be whose error on the true one cannot be foreseen. Chosen, like
# the shapes, with the DPBench histograms in sight.
CAUTION = 1.1


@dataclass(frozen=True)
class Ranked:
    """How a method did: root mean square error in rows for each shape, and how far from the best on average.

    take: whether its estimates ("raw") or its counts of a possible table ("counts") did better; the errors are theirs.
    regret: the geometric mean over the shapes of (its error / the least error of all methods); 1 is best. Methods
        are ordered by it, after it is multiplied by CAUTION where the error depends on the data.
    """

    mechanism: str
    take: str
    errors: Mapping[str, float]
    regret: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def rank(
    methods: Iterable[Mechanism],
    domain: Domain,
    loss: Loss,
    purpose: str,
    people: int,
    *,
    trials: int = 3,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Ranked]:
    """The methods that fit, best first, for answering single cells, ranges, or running totals.

    people: the curator's statement of n, >= 1. Above 4,096 cells a smaller table of the same proportions stands
    in, with as many people in a cell. Repeatable: the same arguments give the same ranking.
    Raises ValueError if the purpose is unknown.
    """
    if purpose not in PURPOSES:
        raise ValueError(f"purpose must be one of {', '.join(PURPOSES)}, got {purpose!r}")
    model, loss = model_domain(domain), loss.over(domain)
    rows = max(1, round(people * model.size / domain.size))
    tables = {shape: made_up(shape, model, rows) for shape in SHAPES}
    queries = _queries(purpose, model)
    methods = list(methods)
    errors: dict[tuple[str, str], dict[str, float]] = {}
    foreseen: dict[str, bool] = {}
    for done, method in enumerate(methods):
        on_progress(done, len(methods))
        declared = {p.name for p in method.parameters}
        try:
            plan = method.plan(model, {"purpose": purpose} if "purpose" in declared else {}, loss)
        except PlanError:
            continue
        raw, counts = _errors(method, plan, purpose, tables, queries, trials)
        errors[method.name, "raw"], errors[method.name, "counts"] = raw, counts
        foreseen[method.name] = plan.standard_error is not None
    return _ranked(errors, foreseen)


def model_domain(domain: Domain) -> Domain:
    """A domain of ordered columns in the proportions of `domain`, of at most 4,096 cells."""
    shrink = min(1.0, (MAX_MODEL_CELLS / domain.size) ** (1 / max(1, len(domain.shape))))
    sizes = [max(1, math.floor(size * shrink)) for size in domain.shape]
    return Domain(tuple(Integer(f"column {i}", upper=size - 1) for i, size in enumerate(sizes)))


def made_up(shape: str, domain: Domain, people: int) -> np.ndarray:
    """(domain.size,) counts of a made-up table of that shape, summing to `people`; always the same ones."""
    generator = repeatable(hashlib.sha256(f"{shape} {domain.shape} {people}".encode()).digest())
    weights = _weights(shape, domain, generator)
    return generator.multinomial(people, weights / weights.sum()).astype(np.int64)


def _weights(shape: str, domain: Domain, generator: np.random.Generator) -> Floats:
    """How likely each cell is, up to a factor."""
    if shape == "uniform":
        return np.ones(domain.size)
    if shape == "sparse":
        return _stretches(domain.size, generator)
    uneven = generator.exponential(size=domain.size)
    if shape in ("power law", "steep power law"):
        falling: Floats = uneven * _falling(domain, STEEP if shape == "steep power law" else SLOW)
        return falling
    hump: Floats = uneven * _hump(domain)
    if shape == "first cell" and domain.size > 1:
        hump[0] = FIRST / (1 - FIRST) * hump[1:].sum()
    return hump


def _falling(domain: Domain, exponent: float) -> np.ndarray:
    along = np.meshgrid(*(np.arange(1, n + 1) for n in domain.shape), indexing="ij", sparse=True)
    return np.ravel(math.prod(along) ** -exponent)


def _hump(domain: Domain) -> np.ndarray:
    places = ((np.arange(n) + 0.5) / n for n in domain.shape)
    bells = (np.exp(-(((x - TOP) / SPREAD) ** 2) / 2) for x in places)
    return np.ravel(math.prod(np.meshgrid(*bells, indexing="ij", sparse=True)))


def _stretches(size: int, generator: np.random.Generator) -> np.ndarray:
    weights = np.zeros(size)
    length = max(1, round(OCCUPIED * size / STRETCHES))
    for rank, start in enumerate(generator.integers(0, size - length + 1, size=STRETCHES), 1):
        weights[start : start + length] += generator.exponential(size=length) / rank
    return weights


Answers = Callable[[np.ndarray], np.ndarray]


def _queries(purpose: str, domain: Domain) -> Answers:
    """A function from (n,) estimates to the answers that the purpose is about."""
    if purpose == "cells":
        return lambda x: x
    shape = domain.shape
    lower, upper = _boxes(shape) if purpose == "ranges" else _corners(shape)

    def sums(x: np.ndarray) -> np.ndarray:
        table = np.pad(x.reshape(shape).astype(np.float64), [(1, 0)] * len(shape))
        for axis in range(len(shape)):
            table = table.cumsum(axis)
        return _box_sums(table, lower, upper)

    return sums


def _boxes(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Ends of 1,000 fixed random ranges (boxes for several columns): (RANGES, d) first and one past last."""
    generator = repeatable(hashlib.sha256(f"ranges {shape}".encode()).digest())
    ends = np.stack([np.sort(generator.integers(0, n, size=(RANGES, 2)), axis=1) for n in shape], axis=1)
    return ends[..., 0], ends[..., 1] + 1


def _corners(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the running totals: from the first cell to every cell, as boxes."""
    cells = np.stack(np.unravel_index(np.arange(math.prod(shape)), shape), axis=1)
    return np.zeros_like(cells), cells + 1


def _box_sums(cumulative: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Sums over boxes by inclusion and exclusion on a padded cumulative table."""
    dimensions = lower.shape[1]
    total = np.zeros(len(lower))
    for corner in range(2**dimensions):
        low = np.array([corner >> axis & 1 for axis in range(dimensions)], dtype=bool)
        places = np.where(low, lower, upper)
        total += (-1.0) ** low.sum() * cumulative[tuple(places.T)]
    return total


def _errors(
    method: Mechanism,
    plan: Plan,
    purpose: str,
    tables: Mapping[str, np.ndarray],
    answers: Answers,
    trials: int,
) -> tuple[dict[str, float], dict[str, float]]:
    """Root mean square errors on every made-up table, of a method's estimates and of its counts."""
    description = json.dumps([plan.to_json(), purpose], sort_keys=True, default=str)
    noise = Noise(repeatable(hashlib.sha256(description.encode()).digest()).bytes)
    raw, counts = {}, {}
    for shape, table in tables.items():
        truth = answers(table)
        results = [method.reconstruct(plan, method.measure(plan, table, noise)) for _ in range(trials)]
        raw[shape] = _root_mean_square([answers(r.raw) - truth for r in results])
        counts[shape] = _root_mean_square([answers(r.counts) - truth for r in results])
    return raw, counts


def _root_mean_square(errors: list[np.ndarray]) -> float:
    return math.sqrt(float(np.mean(np.square(errors))))


def _ranked(
    errors: Mapping[tuple[str, str], Mapping[str, float]], foreseen: Mapping[str, bool]
) -> list[Ranked]:
    """Each method at its better result, in order; an error of zero counts as a tiny one."""
    if not errors:
        return []
    least = {shape: max(1e-9, min(e[shape] for e in errors.values())) for shape in SHAPES}
    regrets = {
        key: math.exp(float(np.mean([math.log(max(1e-9, e[s]) / least[s]) for s in SHAPES])))
        for key, e in errors.items()
    }
    best: dict[str, Ranked] = {}
    for key in sorted(regrets, key=lambda k: (regrets[k], k)):
        best.setdefault(key[0], Ranked(key[0], key[1], dict(errors[key]), regrets[key]))
    return sorted(best.values(), key=lambda r: r.regret * (1 if foreseen[r.mechanism] else CAUTION))
