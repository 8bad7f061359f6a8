"""Which method to take: how the methods did on drawn tables like the one that is asked about, without its data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from mechanisms.accounting import Loss
from mechanisms.advice import table
from mechanisms.advice.answers import PURPOSES
from mechanisms.arrays import Floats
from mechanisms.calibration import equal_epsilon
from mechanisms.domain import Domain
from mechanisms.protocol import Mechanism

# Each cell by itself: what is advised for fewer cells than any table has that was drawn, of one column or of two.
FEW = 16
# A method is nearly the best whose error is at most so many times the least.
NEARLY = 1.15
_HARDLY = 1.2


def take(method: Mechanism, purpose: str) -> str:
    """Which of a release's answers to sum up: its estimates ("raw"), or its counts of a possible table ("counts").

    Counts of a possible table are nearer wherever counts are fixed from large blocks down. Where each cell was made
    non-negative by itself, sums over many cells are better made of the estimates.
    """
    return "raw" if method.is_plain and purpose != "cells" else "counts"


@dataclass(frozen=True)
class Ranked:
    """How a method did on the drawn tables near the question, each weighted by how near.

    take: whether to sum up its estimates ("raw") or its counts of a possible table ("counts"); the figures are theirs.
    ratio: geometric mean of (its error / the least of all methods' on the same table); 1 is best.
    low, high: one in ten drawn tables had a ratio below the one, and one in ten above the other.
    nearly_best: the share of the tables on which it was within 15 % of the best.
    lag, uncertain: the logarithm of (its ratio / the first method's) and its standard error over the tables; 0 for the
        first. Methods are in order of their ratio, those that are never advised last.
    """

    mechanism: str
    take: str
    ratio: float
    low: float
    high: float
    nearly_best: float
    lag: float
    uncertain: float
    advised: bool

    @property
    def as_good(self) -> bool:
        """Whether the tables do not tell it from the first: two standard errors apart at most."""
        return self.advised and self.lag <= 2 * self.uncertain


@dataclass(frozen=True)
class Ranking:
    """The methods, best first.

    tables: how many drawn tables that stands on, by their weights. few: whether there are fewer cells than any drawn
    table has. beyond: whether cells or n·ε lie outside of what was drawn, so that the figures are those of its edge.
    unmeasured: the methods that the table has no figures of yet; nothing is said for or against them.
    """

    methods: list[Ranked]
    tables: float
    cells: int
    strength: float
    few: bool
    beyond: bool
    unmeasured: list[str]

    @property
    def as_good(self) -> bool:
        """Whether the tables do not tell some method from the first."""
        return any(r.as_good for r in self.methods[1:])


def rank(methods: Iterable[Mechanism], domain: Domain, loss: Loss, purpose: str, people: int) -> Ranking:
    """The methods, best first, for answering single cells, ranges, or running totals.

    people: the curator's statement of n, >= 1. No data and no simulation: it looks up a shipped table, so the same
    arguments give the same ranking. Raises ValueError if the purpose is unknown, PlanError if the loss is absurd.
    """
    if purpose not in PURPOSES:
        raise ValueError(f"purpose must be one of {', '.join(PURPOSES)}, got {purpose!r}")
    known = table.trials(table.columns_of(domain), loss.definition)
    strength = strength_of(domain, loss, people)
    weights = table.weights(known.log_nearness(domain.size, strength))
    candidates, few = list(methods), domain.size < FEW
    ratios = {m.name: known.ratios[purpose][m.name] for m in candidates if m.name in known.ratios[purpose]}
    lines = (
        _ranked(m, purpose, ratios[m.name], weights, m.is_plain if few else m.may_be_advised)
        for m in candidates
        if m.name in ratios
    )
    ranked = sorted(lines, key=lambda r: (not r.advised, r.ratio))
    best = ratios[ranked[0].mechanism] if ranked else np.empty(0)
    return Ranking(
        [_compared(r, ratios[r.mechanism], best, weights) for r in ranked],
        float(weights.sum() ** 2 / (weights**2).sum()),
        domain.size,
        strength,
        few,
        not (_is_known(domain.size, known.cells) and _is_known(strength, known.strength)),
        [m.name for m in candidates if m.name not in ratios],
    )


def _is_known(value: float, known: Floats) -> bool:
    """Whether it is among the known values, or hardly beyond."""
    return bool(known.min() / _HARDLY <= value <= known.max() * _HARDLY)


def strength_of(domain: Domain, loss: Loss, people: int) -> float:
    """n·ε, with the ε of equally wide noise on a single cell."""
    return people * equal_epsilon(loss.for_domain(domain))


def _ranked(method: Mechanism, purpose: str, ratios: Floats, weights: Floats, advised: bool) -> Ranked:
    measured = ~np.isnan(ratios)
    values, near = ratios[measured], weights[measured]
    order = np.argsort(values)
    below = np.cumsum(near[order]) / near.sum()
    low, high = (
        float(values[order][np.searchsorted(below, share).clip(max=order.size - 1)]) for share in (0.1, 0.9)
    )
    return Ranked(
        mechanism=method.name,
        take=take(method, purpose),
        ratio=math.exp(float(np.average(values, weights=near))),
        low=math.exp(low),
        high=math.exp(high),
        nearly_best=float(np.average(values <= math.log(NEARLY), weights=near)),
        lag=0.0,
        uncertain=0.0,
        advised=advised,
    )


def _compared(ranked: Ranked, ratios: Floats, best: Floats, weights: Floats) -> Ranked:
    """With how far it is behind the first method on the tables where both were measured, and how sure that is."""
    both = ~np.isnan(ratios) & ~np.isnan(best)
    gaps, near = (ratios - best)[both], weights[both] / weights[both].sum()
    lag = float(near @ gaps)
    return replace(ranked, lag=lag, uncertain=math.sqrt(float(near**2 @ (gaps - lag) ** 2)))
