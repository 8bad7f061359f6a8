"""What the histograms share that count blocks of cells and take people to be evenly spread inside a block."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Loss
from mechanisms.calibration import count_law
from mechanisms.domain import Domain
from mechanisms.histogram.blocks import deal, spread
from mechanisms.histogram.spending import Stage, share_of, stages_to_json
from mechanisms.histogram.top_down import top_down
from mechanisms.noise import Noise
from mechanisms.protocol import (
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

MAX_CELLS = 2**24
MAX_COLUMNS = 4
# A number of people that is not public costs this share of the loss.
PEOPLE_SHARE = Fraction(1, 20)

PEOPLE = Parameter.integer(
    "people",
    "Number of people, if it is public",
    "Sets how fine the grid is. It is published, so take it from public knowledge; "
    "0 buys a noisy number with a twentieth of the cost instead.",
    default=0,
    minimum=0,
    maximum=10**10,
)


@dataclass(frozen=True)
class PartitionInputs:
    """What a plan is made from, checked."""

    domain: Domain
    parameters: Parameters
    loss: Loss

    @property
    def sensitivity(self) -> Sensitivity:
        return histogram_sensitivity(self.loss.unit)

    @property
    def free_axes(self) -> int:
        """Columns with more than one cell; at least 1, so that it can divide."""
        return max(1, sum(width > 1 for width in self.domain.shape))

    @property
    def people(self) -> int:
        """The public number of people, or 0 if it is not public."""
        return int(self.parameters.get("total", self.parameters.get(PEOPLE.name, 0)))

    def count_stage(self, name: str, share: Fraction) -> Stage:
        """A stage that counts rows in the blocks of a partition.

        Blocks are unions of disjoint cells, so one person moves their counts by no more than the cells'.
        """
        return Stage(name, share, count_law(share_of(self.loss, share), self.sensitivity))

    def people_stage(self) -> list[Stage]:
        """The stage that buys the number of people, if it is not public."""
        return [] if self.people else [self.count_stage("people", PEOPLE_SHARE)]

    def rest(self) -> Fraction:
        """The share that is left for everything else."""
        return 1 - sum((stage.share for stage in self.people_stage()), Fraction(0))


@dataclass(frozen=True)
class Blocks:
    """Estimates of a partition's blocks: estimates (k,) real, labels (n,) of the cells.

    codes: (k,) of the larger and larger parts that blocks are halves of, see `top_down`.
    """

    estimates: np.ndarray
    labels: np.ndarray
    codes: np.ndarray


class PartitionedHistogram(Mechanism):
    """A histogram by blocks; a subclass says how they come about. Its error depends on the data."""

    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS,)
    joins_cells: ClassVar[bool] = True

    @abstractmethod
    def _stages(self, inputs: PartitionInputs) -> list[Stage]:
        """The private questions in order; the last one's law is the plan's."""

    @abstractmethod
    def _facts(self, inputs: PartitionInputs) -> dict[str, object]:
        """Further public numbers for `Plan.details`."""

    @abstractmethod
    def _how(self, inputs: PartitionInputs) -> str:
        """One sentence on how the blocks are chosen."""

    @abstractmethod
    def _measured(self, plan: Plan, counts: np.ndarray, noise: Noise) -> list[np.ndarray]:
        """The private step: the parts of the measurement, one after the other."""

    @abstractmethod
    def _blocks(self, plan: Plan, values: np.ndarray) -> Blocks:
        """The blocks that a measurement tells of."""

    def plan(self, domain: Domain, parameters: Parameters, loss: Loss) -> Plan:
        """Decide everything without data.

        parameters: the mechanism's own; and "total", the number of rows, where it is public. Raises PlanError if the
        loss, the domain or a parameter does not fit.
        """
        _check(domain, loss)
        loss = loss.for_domain(domain)
        chosen = {p.name: _value(p, parameters) for p in self.parameters}
        inputs = PartitionInputs(domain, {**chosen, **public_total(parameters, loss.unit)}, loss)
        stages = self._stages(inputs)
        return Plan(
            mechanism=self.name,
            domain=domain,
            parameters=inputs.parameters,
            loss=loss,
            sensitivity=inputs.sensitivity,
            noise=stages[-1].law,
            standard_error=None,
            half_width=None,
            coverage=None,
            explanation=f"{self._how(inputs)} {_error_sentence(stages[-1])}",
            details={"stages": stages_to_json(stages), "people": inputs.people, **self._facts(inputs)},
        )

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        """The only private step; the class says how the measurement is laid out.

        counts: (plan.domain.size,) int64 >= 0. Returns one int64 array.
        Raises ValueError if the shape, the type or the sign does not fit.
        """
        check_counts(plan.domain, counts)
        return Measurement(np.concatenate(self._measured(plan, counts, noise), axis=-1))

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """The blocks' counts, where `_blocks` has them as they were measured; a subclass of others says its own."""
        return [NoisySums(self._blocks(plan, values).estimates, plan.noise)]

    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        """Each block's estimate spread evenly over its cells, and a possible table of that kind near them.

        That table has the public total where the plan holds one, else that of the `nearest_total`.
        """
        blocks = self._blocks(plan, measurement.values)
        error, total = plan.noise.standard_error, _public_total(plan)
        people = top_down(blocks.estimates, blocks.codes, error, total=total)
        return Result(
            raw=spread(blocks.estimates, blocks.labels),
            counts=deal(people, blocks.labels, plan.domain.shape),
            partition=blocks.labels,
        )


def _check(domain: Domain, loss: Loss) -> None:
    check_cells(domain, MAX_CELLS)
    if len(domain.attributes) > MAX_COLUMNS:
        raise PlanError(
            "Choose at most {max_columns} columns; {number} are chosen.",
            max_columns=MAX_COLUMNS,
            number=len(domain.attributes),
        )
    check_amount(loss)


def _public_total(plan: Plan) -> int | None:
    return int(plan.parameters["total"]) if "total" in plan.parameters else None


def _value(parameter: Parameter, given: Parameters) -> str | int:
    if parameter.kind == "choice":
        return choice(parameter, given)
    return integer_parameter(parameter, given)


def _error_sentence(last: Stage) -> str:
    error = last.law.standard_error
    digits = 0 if error >= 100 else 1 - math.floor(math.log10(error)) if error > 0 else 0
    shown = f"{round(error, max(0, digits)):,g}" if error < 10**6 else f"{error:,.0f}"
    return (
        f"Each block's noisy count has a standard error of {shown} rows; inside a block people are taken to be "
        "evenly spread, so the error of a cell depends on the data and cannot be promised beforehand."
    )
