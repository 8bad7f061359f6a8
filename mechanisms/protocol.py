"""The three verbs of every mechanism, and the values that pass between them.

plan (no data) -> measure (the only private step) -> reconstruct (post-processing, repeatable).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from mechanisms.accounting import Definition, Loss, PrivacyUnit
from mechanisms.box_queries import CellSum, Picks, size, summed
from mechanisms.domain import Domain
from mechanisms.json_types import JsonObject
from mechanisms.noise import Noise, NoiseLaw, law_from_json
from mechanisms.refusal import RefusalError, Wording
from mechanisms.sensitivity import Sensitivity

# Values of a column without order, those of the cell for others among them.
_FEW_VALUES = 3


Parameters = Mapping[str, str | int]


class PlanError(RefusalError):
    """A plan that cannot be made; the message says what to change."""


class OutdatedPlanError(PlanError):
    """A plan whose strategy is not today's, as one that was made from what older code found."""

    TEMPLATE = (
        "{title}: its strategy has changed since this was planned, so the noise would not fit. Nothing was measured "
        "with it. Open the draft again; it is planned anew."
    )


@dataclass(frozen=True)
class Parameter:
    """A choice that a mechanism offers; the wizard makes a form field of it.

    kind: "choice" (with `choices` as (value, label) pairs) or "integer" (with bounds).
    """

    name: str
    label: str
    help: str
    default: str | int
    kind: str = "choice"
    choices: tuple[tuple[str, str], ...] = ()
    minimum: int | None = None
    maximum: int | None = None

    @classmethod
    def integer(cls, name: str, label: str, help: str, default: int, minimum: int, maximum: int) -> Parameter:
        """A whole number within bounds."""
        return cls(name, label, help, default, kind="integer", minimum=minimum, maximum=maximum)


@dataclass(frozen=True)
class Plan:
    """All that a release will do, decided without data. The wizard shows it, the job runs exactly it.

    standard_error, half_width: of one released noisy count, in rows; the interval count ± half_width holds
    the true count with probability `coverage` (>= 0.95, exact). All three are None for a method whose error
    depends on the data, which is said in `explanation`.
    """

    mechanism: str
    domain: Domain
    parameters: Parameters
    loss: Loss
    sensitivity: Sensitivity
    noise: NoiseLaw
    standard_error: float | None
    half_width: int | None
    coverage: float | None
    explanation: str
    details: JsonObject = field(default_factory=dict)

    @cached_property
    def stage_laws(self) -> Mapping[str, NoiseLaw]:
        """The laws of the noise of its private steps, by name, in order; of a plan in stages."""
        return {stage["stage"]: law_from_json(stage["law"]) for stage in self.details["stages"]}

    def to_json(self) -> dict[str, object]:
        return {
            "mechanism": self.mechanism,
            "domain": self.domain.to_json(),
            "parameters": dict(self.parameters),
            "loss": self.loss.to_json(),
            "sensitivity": {"l1": self.sensitivity.l1, "l2_squared": self.sensitivity.l2_squared},
            "noise": self.noise.to_json(),
            "standard_error": self.standard_error,
            "half_width": self.half_width,
            "coverage": self.coverage,
            "explanation": self.explanation,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> Plan:
        read = {
            "domain": Domain.from_json(value["domain"]),
            "loss": Loss.from_json(value["loss"]),
            "sensitivity": Sensitivity(**value["sensitivity"]),
            "noise": law_from_json(value["noise"]),
        }
        return cls(**{**value, **read})


@dataclass(frozen=True)
class Measurement:
    """What the private step saw: integers, and nothing else about the data. Raises TypeError for other numbers."""

    values: np.ndarray

    def __post_init__(self) -> None:
        if not np.issubdtype(self.values.dtype, np.integer):
            raise TypeError(f"a measurement must have integers, got {self.values.dtype}")


@dataclass(frozen=True)
class NoisySums:
    """Numbers of a measurement that are sums over rows, with noise of one law: what no table can have is told by it.

    values: the noisy ones. least, most: what one row adds to each, at least and at most.
    """

    values: np.ndarray
    law: NoiseLaw
    least: float | np.ndarray = 0
    most: float | np.ndarray = 1


@dataclass(frozen=True)
class Result:
    """What post-processing made of a measurement, cell by cell, in rows.

    raw: (n,) estimates before they are made non-negative: integers where each cell was measured by itself,
        else floats; unbiased unless the plan's error depends on the data.
    counts: (n,) integers >= 0, the estimates made into the counts of a possible table.
    half_width: (n,) of each estimate's 95 % interval, where it differs from the plan's; else None.
    partition: (n,) integers, the block of cells that each cell was measured with, to be drawn; or None.
    method: the title of the method that was taken, where that was chosen privately.
    """

    raw: np.ndarray
    counts: np.ndarray
    half_width: np.ndarray | None = None
    partition: np.ndarray | None = None
    method: str = ""


class CellCost(NamedTuple):
    """What a release takes for each cell: microseconds of one processor, and bytes of memory."""

    microseconds: float
    memory: float


class Mechanism(ABC):
    """One way to release a histogram; `name` is its key in the registry and in every `release.json`.

    What pages, plans and the advice have to know of a method stands on its class; what a class does not say is the
    default here.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})
    parameters: ClassVar[tuple[Parameter, ...]]
    # Whether it counts cells together that are neighbours, and takes people to be evenly spread over them.
    joins_cells: ClassVar[bool] = False
    # Of how many columns it is made for at least; on fewer other methods do the same better.
    fewest_columns: ClassVar[int] = 1
    # Whether its estimates are fixed sums of independent noises, so that a measurement tells a sum and its error.
    is_linear: ClassVar[bool] = False
    # Whether it counts each cell by itself, with noise of its own.
    is_plain: ClassVar[bool] = False
    # Whether it takes one of the other methods, by what it measured.
    chooses_method: ClassVar[bool] = False
    # Whether the advice may name it: not where it is good only for tables that nobody knows without their data.
    may_be_advised: ClassVar[bool] = True
    # As `tests.benchmarks.cells` measures it; as long as nobody did, that of the method that takes most.
    cost_per_cell: ClassVar[CellCost] = CellCost(6.0, 130)

    @abstractmethod
    def plan(self, domain: Domain, parameters: Parameters, loss: Loss) -> Plan:
        """Decide everything without data. Raises PlanError if the loss or the domain does not fit."""

    @abstractmethod
    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        """Draw the noise: (n,) int64 counts in, integers out. The only step that spends the loss."""

    @abstractmethod
    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        """Post-process: no data, no randomness, the same result every time."""

    def unsuited(self, plan: Plan) -> str:
        """Why it is not made for the plan's columns, though it can count them; empty if it is."""
        if self.joins_cells and (mixed := _without_order(plan.domain)):
            return Wording(
                "It joins cells that stand side by side, which tells nothing of {columns}, whose values have no order.",
                columns=mixed,
            )
        if len(plan.domain.attributes) < self.fewest_columns:
            return Wording("It is made for {number} columns or more.", number=self.fewest_columns)
        return ""

    def loss_for(self, half_width: int, definition: Definition, unit: PrivacyUnit) -> Loss | None:
        """The smallest loss whose 95 % interval is at most ± half_width rows; None where only trying tells.

        Raises PlanError if no loss is enough, or the definition does not fit.
        """
        return None

    def measured_by(self, plan: Plan, values: np.ndarray) -> tuple[Mechanism, Plan, np.ndarray]:
        """The method that measured, its plan, and its part of the measurement, where one was chosen privately."""
        return self, plan, values

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """The numbers of a measurement that are sums over rows; a check asks whether any table could have them.

        None, where a method does not say how its measurement is laid out.
        """
        return []

    def cell_sum(self, plan: Plan, values: np.ndarray, picks: Picks) -> CellSum:
        """The estimates of a box of cells added up, with an interval where the plan tells how sure they are.

        values: the measurement of a method that `is_linear`; of any other (n,) the estimates themselves.
        """
        return CellSum(summed(values, plan.domain.shape, picks), None, size(picks))

    def cell_difference(
        self, _plan: Plan, _values: np.ndarray, _first: Picks, _second: Picks
    ) -> CellSum | None:
        """The first box of cells less the second; None where nothing tells how sure that is. Values: as `cell_sum`."""
        return None


def _without_order(domain: Domain) -> str:
    """The columns of which joined cells would be a mixture; two or three values are soon told apart."""
    return ", ".join(a.name for a in domain.attributes if not a.ordered and a.size > _FEW_VALUES)
