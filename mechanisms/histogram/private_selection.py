"""A histogram whose method is chosen privately, by noisy statistics of how unevenly people lie."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Loss
from mechanisms.advice import table
from mechanisms.arrays import Floats
from mechanisms.calibration import count_law, equal_epsilon
from mechanisms.domain import Domain
from mechanisms.histogram import unevenness
from mechanisms.histogram.binned import BinnedHistogram
from mechanisms.histogram.dawa import DawaHistogram
from mechanisms.histogram.grid import AdaptiveGrid, UniformGrid
from mechanisms.histogram.hierarchical import HierarchicalHistogram
from mechanisms.histogram.noisy import LaplaceHistogram
from mechanisms.histogram.privtree import PrivTree
from mechanisms.histogram.quadtree import Quadtree
from mechanisms.histogram.spending import Stage, share_of, stages_to_json
from mechanisms.linear.dyadic import PURPOSE
from mechanisms.noise import Noise
from mechanisms.protocol import (
    CellCost,
    Measurement,
    Mechanism,
    NoisySums,
    Parameter,
    Parameters,
    Plan,
    PlanError,
    Result,
)
from mechanisms.sensitivity import Sensitivity, histogram_sensitivity
from mechanisms.validation import (
    WITHIN_BINS,
    check_amount,
    check_cells,
    check_counts,
    choice,
    integer_parameter,
    public_total,
)

MAX_CELLS = 2**21
CANDIDATES: tuple[Mechanism, ...] = (
    HierarchicalHistogram(),
    BinnedHistogram(),
    DawaHistogram(),
    LaplaceHistogram(),
    UniformGrid(),
    AdaptiveGrid(),
    Quadtree(),
    PrivTree(),
)
# By what share the statistics of drawn tables may differ that are still alike: mostly by the first. The second is for
# tables that are like none of them, for which many that are a little alike are to speak.
ALIKE = {0.5: 0.7, 2.0: 0.3}

_MEANING = "The rest is spent by the method that was chosen."
SHARE = Parameter.integer(
    "statistic_share",
    "Share of the cost for choosing the method, %",
    _MEANING,
    default=3,
    minimum=1,
    maximum=50,
)


class ChosenHistogram(Mechanism):
    """Buys statistics of unevenness with a declared share of the loss, and releases by the method that they speak for.

    Measurement: the place of the chosen method in `details["candidates"]`, the noisy statistics in the order of
    `unevenness.statistics`, each in its own units, then the chosen method's own measurement.

    Private because three things compose. (i) The statistics. One row more or less moves each by at most its `step`
    (`unevenness.measured`, `unevenness.bias_step`). Neighbours are at most D rows apart, D the L1 sensitivity of the
    cells (see `counting`), one row after the other; so each statistic moves by at most D steps between them, and is
    counted with noise for that, each with an equal part of the share. (ii) The choice is made of the noisy statistics,
    the plan and a public table of drawn tables: post-processing, so it costs nothing, however it is made. (iii) Every
    candidate was planned without data for the whole rest of the loss, and one of them measures. Which one depends on
    the data only through what was already released: adaptive sequential composition, of pure ε and of ρ alike.
    Source: choosing by private statistics, Kotsogiannis, Machanavajjhala, Hay, Miklau 2017 (Pythia).
    """

    name: ClassVar[str] = "chosen-histogram"
    title: ClassVar[str] = "Method chosen privately"
    summary: ClassVar[str] = (
        "Spends a small share of the cost on noisy statistics of how uneven the table is, and takes the method "
        "that did best on drawn tables like that."
    )
    cost_per_cell: ClassVar[CellCost] = CellCost(6.0, 135)
    chooses_method: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, PURPOSE, SHARE)

    def plan(self, domain: Domain, parameters: Parameters, loss: Loss) -> Plan:
        """Decide everything without data but which candidate will measure; so no error is foreseen.

        parameters: "within_bins", "purpose", the share of the statistics in per cent; and "total", the number of rows,
        where it is public. Raises PlanError if something does not fit.
        """
        self._check(domain, loss)
        loss = loss.for_domain(domain)
        per_cent = integer_parameter(SHARE, parameters)
        common: Parameters = {
            "within_bins": choice(WITHIN_BINS, parameters),
            "purpose": choice(PURPOSE, parameters),
            **public_total(parameters, loss.unit),
        }
        rest = share_of(loss, 1 - Fraction(per_cent, 100))
        candidates = _candidates(domain, common, rest)
        law = candidates[0].noise
        stages = [
            *statistic_stages(domain, loss, Fraction(per_cent, 100)),
            Stage("release", 1 - Fraction(per_cent, 100), law),
        ]
        return Plan(
            mechanism=self.name,
            domain=domain,
            parameters={**common, SHARE.name: per_cent},
            loss=loss,
            sensitivity=histogram_sensitivity(loss.unit),
            noise=law,
            standard_error=None,
            half_width=None,
            coverage=None,
            explanation=_explanation(per_cent, candidates),
            details={
                "stages": stages_to_json(stages),
                "candidates": [_without_domain(plan) for plan in candidates],
            },
        )

    def _check(self, domain: Domain, loss: Loss) -> None:
        check_cells(domain, MAX_CELLS)
        check_amount(loss)
        if unevenness.padded_size(domain.shape) > MAX_CELLS:
            raise PlanError(
                "{title}: with every column filled up to a power of two there would be more than "
                "{max_cells:,} cells. Choose fewer columns or wider bins.",
                title=self.title,
                max_cells=MAX_CELLS,
            )

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        """Buy the statistics, choose, and have the chosen method measure with the rest.

        counts: (plan.domain.size,) int64 >= 0. Returns one int64 array, laid out as the class says.
        Raises ValueError if the shape, the type or the sign does not fit.
        """
        check_counts(plan.domain, counts)
        exact = unevenness.measured(counts, plan.domain.shape)
        laws = list(plan.stage_laws.values())[:-1]
        draws = [value + noise.draw(law, 1) for value, law in zip(exact, laws, strict=True)]
        statistics = np.concatenate(draws)
        place = _chosen(plan, statistics.tolist())
        method, inner = _candidate(plan, place)
        return Measurement(np.concatenate([[place], statistics, method.measure(inner, counts, noise).values]))

    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        """What the chosen method makes of its measurement, with that method's interval where it has one.

        The noise of its measurement is independent of the statistics, so the interval holds whatever they chose.
        """
        method, inner, values = self.measured_by(plan, measurement.values)
        result = method.reconstruct(inner, Measurement(values))
        half_width = result.half_width
        if half_width is None and inner.half_width is not None:
            half_width = np.full(plan.domain.size, inner.half_width)
        return replace(result, half_width=half_width, method=method.title)

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """Those of the chosen method; the statistics are no sums over rows."""
        method, inner, own = self.measured_by(plan, values)
        return method.noisy_sums(inner, own)

    def measured_by(self, plan: Plan, values: np.ndarray) -> tuple[Mechanism, Plan, np.ndarray]:
        """The chosen method, its plan, and its measurement."""
        method, inner = _candidate(plan, int(values[0]))
        return method, inner, values[len(plan.details["stages"]) :]


def _candidates(domain: Domain, common: Parameters, rest: Loss) -> list[Plan]:
    """The plans of all candidates that fit. Raises the last one's PlanError if there is none."""
    plans: list[Plan] = []
    refusal = PlanError("No method fits these columns.")
    for method in CANDIDATES:
        own = {p.name for p in method.parameters} | {"total"}
        try:
            plans.append(method.plan(domain, {k: v for k, v in common.items() if k in own}, rest))
        except PlanError as refused:
            refusal = refused
    if not plans:
        raise refusal
    return plans


def statistic_stages(domain: Domain, loss: Loss, share: Fraction) -> list[Stage]:
    """One for each of `unevenness.statistics`, with equal parts of the share; loss: over the domain."""
    measured = unevenness.statistics(domain.shape)
    part, rows = share / len(measured), histogram_sensitivity(loss.unit).l1
    return [
        Stage(s.name, part, count_law(share_of(loss, part), Sensitivity(s.step * rows, (s.step * rows) ** 2)))
        for s in measured
    ]


def _explanation(per_cent: int, candidates: list[Plan]) -> str:
    fitting = {plan.mechanism for plan in candidates}
    titles = "; ".join(method.title for method in CANDIDATES if method.name in fitting)
    return (
        f"{per_cent} % of the cost buys noisy statistics: the number of people, how many cells hold anybody, and how "
        "far running totals are from those of people spread evenly over blocks. The method that did best on drawn "
        f"tables of such statistics is given the other {100 - per_cent} %: one of {titles}. "
        "Its error depends on the choice, and so on the data, and cannot be promised beforehand; once the choice is "
        "published, so is the error of the method that was taken, where that has one."
    )


def _without_domain(plan: Plan) -> dict[str, object]:
    """A candidate's plan as JSON; the domain is that of the whole plan."""
    return {key: value for key, value in plan.to_json().items() if key != "domain"}


def _candidate(plan: Plan, place: int) -> tuple[Mechanism, Plan]:
    """The candidate in this place, and its plan."""
    value = plan.details["candidates"][place]
    method = next(m for m in CANDIDATES if m.name == value["mechanism"])
    return method, Plan.from_json({**value, "domain": plan.domain.to_json()})


def _chosen(plan: Plan, statistics: list[int]) -> int:
    """The place of the candidate with the least expected error, given the noisy statistics."""
    names = [candidate["mechanism"] for candidate in plan.details["candidates"]]
    loss = share_of(plan.loss, Fraction(plan.details["stages"][-1]["share"]))
    laws = list(plan.stage_laws.values())[:-1]
    seen = Seen.of(plan.domain, statistics, [law.standard_error for law in laws], equal_epsilon(loss))
    known = table.trials(table.columns_of(plan.domain), plan.loss.definition)
    expected = seen.expected(known, str(plan.parameters["purpose"]), names)
    return int(np.argmin(expected))


@dataclass(frozen=True)
class Seen:
    """Noisy statistics of a table, in rows times ε, with their standard errors; the first is the number of people."""

    cells: int
    statistics: Floats
    errors: Floats

    @classmethod
    def of(cls, domain: Domain, statistics: Sequence[int], errors: Sequence[float], scale: float) -> Seen:
        """From statistics and standard errors in their own units; scale: the ε by which rows are multiplied."""
        rows = scale / np.array([s.unit for s in unevenness.statistics(domain.shape)])
        return cls(domain.size, rows * np.array(statistics), rows * np.array(errors))

    def likeness(self, known: table.Trials) -> Floats:
        """(k,) how likely these statistics are if the table is like each of the drawn ones, up to a factor.

        Mixtures of normal densities, whose variance is that of the noise and of what counts as alike. The number of
        people says how near the strength is; the other statistics are compared as they are.
        """
        strength = max(float(self.statistics[0]), float(self.errors[0]), 1.0)
        near = known.log_nearness(self.cells, strength, float(self.errors[0]) / strength)
        alike = [math.log(part) + self._log_density(known, share) for share, part in ALIKE.items()]
        return table.weights(near + np.logaddexp.reduce(alike, axis=0))

    def _log_density(self, known: table.Trials, share: float) -> Floats:
        draws = known.statistics[:, 1 : self.statistics.size]
        variance = self.errors[1:] ** 2 + (share * draws) ** 2 + 1
        logs: Floats = -((self.statistics[1:] - draws) ** 2 / variance + np.log(variance)).sum(axis=1) / 2
        return logs

    def expected(self, known: table.Trials, purpose: str, names: list[str]) -> list[float]:
        """For each method, its expected ratio to the best; infinite where it was not measured.

        The ratio itself rather than its logarithm, so that a method that is far off on a few tables is not taken.
        """
        weights = self.likeness(known)
        return [mean_ratio(known.ratios[purpose].get(name), weights) for name in names]


def mean_ratio(logs: Floats | None, weights: Floats) -> float:
    """The weighted mean ratio of a method from the logarithms on the drawn tables, nan where it was not measured."""
    if logs is None:
        return math.inf
    there = ~np.isnan(logs)
    return (
        float(np.average(np.exp(logs[there]), weights=weights[there])) if weights[there].sum() else math.inf
    )
