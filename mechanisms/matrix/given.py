"""Strategies that are given, not searched for."""

from __future__ import annotations

from typing import ClassVar

from mechanisms.accounting import Definition
from mechanisms.domain import Domain
from mechanisms.matrix.answering import MatrixMechanism
from mechanisms.matrix.mechanism import Optimised
from mechanisms.matrix.strategy import Kronecker, plain
from mechanisms.matrix.workload import Workload


class CellsStrategy(MatrixMechanism):
    """Every cell by itself; answers add up the noise of their cells."""

    name: ClassVar[str] = "identity-strategy"
    title: ClassVar[str] = "Cells"
    summary: ClassVar[str] = "Counts every cell once: best for the cells themselves, poor for long ranges."

    def strategy(
        self, domain: Domain, workload: Workload, definition: Definition, optimised: Optimised | None
    ) -> Kronecker:
        return plain(workload.shape)
