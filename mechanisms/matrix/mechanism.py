"""The verbs of a mechanism for a workload of queries, and the values that pass between them.

optimise (no data, no loss; may take minutes, cached) -> plan (no data) -> measure (the only private step)
-> reconstruct (post-processing, repeatable).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.domain import Domain
from mechanisms.json_types import JsonObject
from mechanisms.matrix.reconstruction import RECONSTRUCTION
from mechanisms.matrix.workload.union import Workload
from mechanisms.noise import Noise, NoiseLaw, law_from_json
from mechanisms.protocol import Measurement, Parameter
from mechanisms.sensitivity import Sensitivity

# A lower bound that an error is so many times above is told to nobody.
MOST_TIMES = 10_000
# Done so far and in all, in steps of the optimiser's own.
SearchProgress = Callable[[int, int | None], None]


@dataclass(frozen=True, eq=False)
class Optimised:
    """A strategy found by optimisation. It depends on the workload alone, so it serves every loss and every table.

    arrays: what defines the strategy, as stored in an .npz. facts: JSON about the search: its time, iterations, and
    the certificate where there is one. name: under which it is kept; empty if it is not.
    """

    arrays: Mapping[str, np.ndarray]
    facts: JsonObject = field(default_factory=dict)
    name: str = ""


class Keeper(Protocol):
    """Who keeps methods and strategies by their names, and the uploaded queries that the text of a workload names."""

    def method(self, name: str) -> QueryMechanism: ...

    def strategy(self, name: str) -> Optimised: ...

    def workload(self, text: str, domain: Domain) -> Workload: ...


_keepers: list[Keeper] = []


def set_keeper(keeper: Keeper) -> None:
    """Say where methods, strategies and uploaded queries are found: once, by whoever keeps them."""
    _keepers[:] = [keeper]


def stored_method(name: str) -> QueryMechanism:
    """The method of that name. Raises KeyError if there is none."""
    return _keepers[0].method(name)


def stored_strategy(name: str) -> Optimised | None:
    """The strategy of that name; None for no name."""
    return _keepers[0].strategy(name) if name else None


def stored_workload(text: str, domain: Domain) -> Workload:
    """The workload that a text describes, with the uploaded queries that it names."""
    return _keepers[0].workload(text, domain)


def times_bound(total_error: float, bound: float | None) -> float | None:
    """Root mean squared error over that of a lower bound: 1 is the best there can be. None where nothing is known.

    Nor where the bound is next to nothing, which says nothing of a strategy: of a number that was known before, or of
    noise that is hardly ever one.
    """
    ratio = (total_error / bound) ** 0.5 if bound else math.inf
    return ratio if ratio <= MOST_TIMES else None


@dataclass(frozen=True)
class QueryPlan:
    """All that a release of answers will do, decided without data.

    counted: the tables of counts that `measure` takes, one after the other, each named by its columns in domain
        order; a single entry with all columns stands for the cells of the domain.
    total_error: expected squared error summed over the answers, each times its term's squared weight, in rows²,
        before anything is made non-negative.
    lower_bound: a total error that no strategy can go below with this noise, in rows²; None where none is known.
    workload, optimised: not part of the JSON, which holds the workload's text form.
    """

    mechanism: str
    domain: Domain
    workload: Workload
    loss: Loss
    sensitivity: Sensitivity
    noise: NoiseLaw
    counted: tuple[tuple[str, ...], ...]
    total_error: float
    lower_bound: float | None
    explanation: str
    details: JsonObject = field(default_factory=dict)
    optimised: Optimised | None = None

    @property
    def root_mean_error(self) -> float:
        """Root mean squared error of one answer, in rows."""
        return float((self.total_error / self.workload.queries) ** 0.5)

    @property
    def ratio(self) -> float | None:
        """As `times_bound`."""
        return times_bound(self.total_error, self.lower_bound)

    def to_json(self) -> dict[str, object]:
        return {
            "mechanism": self.mechanism,
            "domain": self.domain.to_json(),
            "workload": self.workload.text,
            "loss": self.loss.to_json(),
            "sensitivity": {"l1": self.sensitivity.l1, "l2_squared": self.sensitivity.l2_squared},
            "noise": self.noise.to_json(),
            "counted": [list(names) for names in self.counted],
            "total_error": self.total_error,
            "lower_bound": self.lower_bound,
            "explanation": self.explanation,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(
        cls, value: JsonObject, workload: Workload, optimised: Optimised | None = None
    ) -> QueryPlan:
        """A plan from its JSON; the workload is the one that the text form describes."""
        read = {
            "domain": Domain.from_json(value["domain"]),
            "workload": workload,
            "loss": Loss.from_json(value["loss"]),
            "sensitivity": Sensitivity(**value["sensitivity"]),
            "noise": law_from_json(value["noise"]),
            "counted": tuple(tuple(names) for names in value["counted"]),
            "optimised": optimised,
        }
        return cls(**{**value, **read})


@dataclass(frozen=True)
class QueryResult:
    """What post-processing made of a measurement.

    answers: (q,) least-squares answers, unbiased and consistent with each other, in rows.
    standard_errors: (q,) of `answers`, exact up to float arithmetic, in rows.
    half_widths: (q,) of each answer's 95 % interval, in rows.
    estimate: (n,) least-squares estimates of the cells; None where the domain has too many cells to hold.
    cells: (n,) non-negative estimates of the cells; None likewise.
    counts: (n,) integers >= 0, the counts of a possible table near `cells`, for synthetic rows; None likewise.
    reconstruction: how `cells` were made; "nnls" also where the plan's way did not come to an end; None likewise.
    """

    answers: np.ndarray
    standard_errors: np.ndarray
    half_widths: np.ndarray
    estimate: np.ndarray | None = None
    cells: np.ndarray | None = None
    counts: np.ndarray | None = None
    reconstruction: str | None = None


class QueryMechanism(ABC):
    """One way to answer a workload; `name` is its key in the registry and in every `release.json`.

    What pages and plans have to know of a method stands on its class; what a class does not say is the default here.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})
    parameters: ClassVar[tuple[Parameter, ...]] = (RECONSTRUCTION,)
    # Counts up whenever its strategies, or what is found of them, change: what older code stored is then replaced.
    version: ClassVar[int] = 1
    # Whether `optimise` has to run, once for a workload, before there can be a plan.
    optimises: ClassVar[bool] = False
    # Whether it counts each cell by itself: the simplest to explain.
    is_plain: ClassVar[bool] = False
    # Whether it measures the queries themselves, so that many tables over many cells take long to be reconciled.
    asks_workload: ClassVar[bool] = False
    # Whether its strategy is uploaded with the workload.
    is_uploaded: ClassVar[bool] = False

    @abstractmethod
    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        """Why the strategy cannot serve this workload, and what to do; empty if it can. Cheap: from shapes alone."""

    def optimise(
        self, domain: Domain, workload: Workload, definition: Definition, on_progress: SearchProgress
    ) -> Optimised:
        """Find the strategy. Raises TypeError unless it `optimises`."""
        raise TypeError(f"{self.title} has nothing to optimise")

    @abstractmethod
    def plan(
        self, domain: Domain, workload: Workload, loss: Loss, optimised: Optimised | None = None
    ) -> QueryPlan:
        """Decide everything without data. Raises PlanError if the loss, the domain or the workload does not fit."""

    @abstractmethod
    def measure(self, plan: QueryPlan, counts: np.ndarray, noise: Noise) -> Measurement:
        """Draw the noise: int64 counts of `plan.counted` in, integers out. The only step that spends the loss."""

    @abstractmethod
    def reconstruct(self, plan: QueryPlan, measurement: Measurement) -> QueryResult:
        """Post-process: no data, no randomness, the same result every time."""
