"""Strategies that are searched for: what their searches share, whether column by column or over all cells together."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import ClassVar

from mechanisms.accounting import Definition
from mechanisms.domain import Domain
from mechanisms.matrix.answering import MatrixMechanism
from mechanisms.matrix.mechanism import Optimised, SearchProgress
from mechanisms.matrix.strategy.product import Strategy
from mechanisms.matrix.workload.union import Workload
from mechanisms.protocol import PlanError

# Seconds between two reports of progress.
_PACE = 0.5


class SearchedStrategy(MatrixMechanism):
    """A strategy that is searched for once, for a workload, before there can be a plan; a subclass says how."""

    optimises: ClassVar[bool] = True

    @abstractmethod
    def searched(self, workload: Workload, definition: Definition, on_progress: SearchProgress) -> Optimised:
        """The strategy that a search finds, with facts about it; only for a workload that is not refused."""

    @abstractmethod
    def built(self, workload: Workload, definition: Definition, optimised: Optimised) -> Strategy:
        """The strategy on the grid, from what a search found."""

    def optimise(
        self, domain: Domain, workload: Workload, definition: Definition, on_progress: SearchProgress
    ) -> Optimised:
        if refusal := self.refusal(domain, workload, definition):
            raise PlanError(refusal)
        start = time.monotonic()
        best = self.searched(workload, definition, Paced(on_progress))
        return Optimised(best.arrays, {"seconds": round(time.monotonic() - start, 3), **best.facts})

    def strategy(
        self, domain: Domain, workload: Workload, definition: Definition, optimised: Optimised | None
    ) -> Strategy:
        if optimised is None:
            raise PlanError(
                "{title}: the strategy has not been worked out yet. Start the search first.", title=self.title
            )
        return self.built(workload, definition, optimised)


class Paced:
    """Progress, told no more often than somebody can read it."""

    def __init__(self, on_progress: SearchProgress) -> None:
        self._on_progress, self._reported = on_progress, 0.0

    def __call__(self, done: int, total: int | None) -> None:
        if time.monotonic() - self._reported >= _PACE:
            self._reported = time.monotonic()
            self._on_progress(done, total)
