"""The two simple ways to publish running counts, for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.continual.strategy import Draw, StrategyState, StreamStrategy
from mechanisms.continual.stream import LinearStream
from mechanisms.json_types import JsonObject
from mechanisms.sensitivity import Sensitivity


@dataclass(frozen=True)
class Increments(StreamStrategy):
    """A = I: every increment gets noise of its own, and a running count sums it up."""

    column = Sensitivity(1, 1)
    rounds = False
    plain = True

    def energies(self, periods: np.ndarray) -> np.ndarray:
        return periods.astype(np.float64)

    def mean_energy(self, horizon: int) -> float:
        return (horizon + 1) / 2

    def fourth_powers(self, periods: np.ndarray) -> np.ndarray:
        return self.energies(periods)

    def increment_energies(self, periods: np.ndarray) -> np.ndarray:
        return np.ones(periods.shape)

    def begin(self, draw: Draw) -> StrategyState:
        return {}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        total = draw(1)[0] + np.array(numbers.get("total", 0), dtype=np.int64)
        return total, {"total": total.tolist()}


@dataclass(frozen=True)
class Republication(StreamStrategy):
    """A = W: every running count gets noise of its own, wide enough for an increment that is in all N of them."""

    horizon: int
    rounds = False
    plain = True

    @property
    def column(self) -> Sensitivity:  # type: ignore[override]
        return Sensitivity(self.horizon, self.horizon)

    def energies(self, periods: np.ndarray) -> np.ndarray:
        return np.ones(periods.shape)

    def mean_energy(self, horizon: int) -> float:
        return 1.0

    def increment_energies(self, periods: np.ndarray) -> np.ndarray:
        return np.where(periods > 1, 2.0, 1.0)

    def begin(self, draw: Draw) -> StrategyState:
        return {}

    def step(self, period: int, numbers: StrategyState, draw: Draw) -> tuple[np.ndarray, StrategyState]:
        return draw(1)[0], {}


class NaiveIncrements(LinearStream):
    """Noisy increments, summed: mean squared error proportional to N."""

    name: ClassVar[str] = "naive-increments"
    title: ClassVar[str] = "Noisy increments, summed"
    summary: ClassVar[str] = (
        "Each period gets noise of its own; the running count gathers it. Good for few periods."
    )
    endless: ClassVar[bool] = True

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        return Increments()


class NaiveRepublication(LinearStream):
    """Every running count as a release of its own, the loss shared evenly: squared error proportional to N²."""

    name: ClassVar[str] = "naive-republication"
    title: ClassVar[str] = "Every running count anew"
    summary: ClassVar[str] = "Each running count pays its own share of the loss; shown to compare with."
    reference: ClassVar[bool] = True

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        assert horizon is not None  # `endless` is False
        return Republication(horizon)
