"""p-Identity over all cells of several columns together, rather than a product or a union of such strategies."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats
from mechanisms.domain import Domain
from mechanisms.matrix.fixed_strategies import strategy_of_rows
from mechanisms.matrix.joint_strategies import MAX_TERMS, SplitUnionStrategy
from mechanisms.matrix.mechanism import Optimised, SearchProgress
from mechanisms.matrix.optimise.gram import WrittenGram
from mechanisms.matrix.optimise.p_identity import MAX_DENSE, SPACING, improved, p_identity, weights_of
from mechanisms.matrix.searched import SearchedStrategy
from mechanisms.matrix.strategy.grid import BITS
from mechanisms.matrix.strategy.product import Strategy
from mechanisms.matrix.strategy.weights import MatrixRows
from mechanisms.matrix.workload.union import Workload
from mechanisms.refusal import Wording

# How much heavier than a single cell the sums of a union are to begin from, and cells for each of them at least.
_HEAVIER, _FEWEST = (8.0, 50.0), 4
_STARTS = 2


class AllCellsPIdentityStrategy(SearchedStrategy):
    """Every cell and a few weighted sums of cells that lie across the columns as they will.

    Begins at random, and from the sums that a union of strategies for the parts would measure. What is found for
    queries over one column is what p-Identity finds, so this is for several.
    """

    name: ClassVar[str] = "p-identity-all-cells"
    title: ClassVar[str] = "Sums fitted to the queries, over all cells (p-Identity)"
    summary: ClassVar[str] = (
        "Counts every cell and a few weighted sums of cells of all columns together, searched for these queries."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE})

    def refusal(self, domain: Domain, workload: Workload, definition: Definition) -> str:
        if refusal := super().refusal(domain, workload, definition):
            return refusal
        if sum(n > 1 for n in workload.shape) < 2:
            return Wording("{title} is for several columns. Choose p-Identity.", title=self.title)
        if workload.cells > MAX_DENSE:
            return Wording(
                "{title} searches over up to {max_dense:,} cells; the chosen columns have {cells:,}. Choose "
                "fewer columns or wider bins, or another method.",
                title=self.title,
                max_dense=MAX_DENSE,
                cells=workload.cells,
            )
        return ""

    def searched(self, workload: Workload, definition: Definition, on_progress: SearchProgress) -> Optimised:
        gram = WrittenGram(workload.gram())
        candidates = [
            p_identity(gram, rows=math.ceil(gram.size / SPACING), starts=_STARTS, on_progress=on_progress)
        ]
        if begin := _of_union(workload, definition, on_progress):
            candidates.append(improved(gram, begin, on_progress=on_progress))
        best = min(candidates, key=lambda each: each.loss)
        return Optimised({"theta": best.theta}, {"loss": best.loss, "sums": len(best.theta)})

    def built(self, workload: Workload, definition: Definition, optimised: Optimised) -> Strategy:
        rows = MatrixRows.of(weights_of(optimised.arrays["theta"]), BITS, definition)
        return strategy_of_rows(rows, workload.shape)


def _of_union(workload: Workload, definition: Definition, on_progress: SearchProgress) -> list[Floats]:
    """The sums of a union of strategies for the parts, in several weights; none if they are no few."""
    split = SplitUnionStrategy()
    if not 1 < len(workload.terms) <= MAX_TERMS:
        return []
    union = split.built(workload, definition, split.searched(workload, definition, on_progress))
    if union.size * _FEWEST > workload.cells:
        return []
    sums: Floats = union.matrix().toarray() / union.column.l1
    return [heavier * np.asarray(sums) for heavier in _HEAVIER]
