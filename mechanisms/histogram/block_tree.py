"""Histograms that buy a partition of the line of cells first, and then count its blocks by a hierarchy."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Loss
from mechanisms.domain import Domain
from mechanisms.histogram.blocks import block_sizes, deal
from mechanisms.histogram.spending import Stage, pure_epsilon, share_of, stages_to_json
from mechanisms.histogram.strategy import largest_error, strategy_law
from mechanisms.histogram.top_down import top_down
from mechanisms.linear.dyadic import PURPOSE, scales
from mechanisms.linear.tree import Tree, best_tree
from mechanisms.noise import DiscreteLaplace, Noise, NoiseLaw
from mechanisms.protocol import Measurement, Mechanism, NoisySums, Parameter, Parameters, Plan, Result
from mechanisms.sensitivity import histogram_sensitivity
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


@dataclass(frozen=True)
class BlockTreeInputs:
    """What a plan is made from, checked. share: of the loss, for the partition."""

    cells: int
    purpose: str
    loss: Loss
    share: Fraction

    @property
    def scales(self) -> int:
        return scales(self.cells)

    @property
    def rows(self) -> int:
        """How many counts one person can change by 1: D, the L1 sensitivity of the cells."""
        return histogram_sensitivity(self.loss.unit).l1

    @property
    def partition_epsilon(self) -> Fraction:
        """The pure ε of the partition."""
        return pure_epsilon(share_of(self.loss, self.share))

    @property
    def count_loss(self) -> Loss:
        """The loss that is left for counting."""
        return share_of(self.loss, 1 - self.share)

    def tree(self, blocks: int) -> Tree:
        """The hierarchy over so many blocks."""
        return best_tree(self.purpose, 2 ** scales(blocks), self.loss.definition)


def partition_share(
    name: str, gain: str, remark: str = "", *, default: int, minimum: int, maximum: int
) -> Parameter:
    """The share of the loss that buys the partition, in per cent. gain: what it is spent on, in words."""
    meaning = f"The rest counts people. {remark}".strip()
    return Parameter.integer(name, f"Share of the cost for {gain}, %", meaning, default, minimum, maximum)


class BlockTreeHistogram(Mechanism):
    """A partition into dyadic blocks, bought with a share of the loss, and a hierarchy over the blocks.

    Measurement: the number b of blocks, their b exponents e from left to right (2^e cells each; the last may
    reach beyond the cells), then the noisy answers of the hierarchy over the b blocks (`Tree.answers`).
    The partition is an output of a private step, so asking for its blocks' counts is sequential composition.
    """

    parameters: ClassVar[tuple[Parameter, ...]] = (WITHIN_BINS, PURPOSE)
    joins_cells: ClassVar[bool] = True
    partition_name: ClassVar[str]
    share: ClassVar[Parameter]

    @abstractmethod
    def _partition_law(self, inputs: BlockTreeInputs) -> DiscreteLaplace:
        """The scale of the partition's choice, as the law that it would be the scale of."""

    @abstractmethod
    def _facts(self, inputs: BlockTreeInputs) -> dict[str, object]:
        """Public numbers that the partition needs, for `Plan.details`."""

    @abstractmethod
    def _partition(self, plan: Plan, law: DiscreteLaplace, padded: np.ndarray, noise: Noise) -> np.ndarray:
        """The private choice: (2^K,) counts to the exponents of the blocks."""

    @abstractmethod
    def _how(self, inputs: BlockTreeInputs) -> str:
        """A sentence on how the blocks are chosen."""

    def plan(self, domain: Domain, parameters: Parameters, loss: Loss) -> Plan:
        """Decide everything without data; the error is not foreseen, because it depends on the data.

        parameters: "within_bins", "purpose", the share of the partition in per cent; and "total", the number of rows,
        where it is public. Raises PlanError if something does not fit.
        """
        check_cells(domain, MAX_CELLS)
        check_amount(loss)
        loss = loss.for_domain(domain)
        total = public_total(parameters, loss.unit)
        per_cent = integer_parameter(self.share, parameters)
        inputs = BlockTreeInputs(domain.size, choice(PURPOSE, parameters), loss, Fraction(per_cent, 100))
        law = strategy_law(inputs.count_loss, inputs.tree(inputs.cells))
        stages = [
            Stage(self.partition_name, inputs.share, self._partition_law(inputs)),
            Stage("counts", 1 - inputs.share, law),
        ]
        return Plan(
            mechanism=self.name,
            domain=domain,
            parameters={
                "within_bins": choice(WITHIN_BINS, parameters),
                "purpose": inputs.purpose,
                self.share.name: per_cent,
                **total,
            },
            loss=loss,
            sensitivity=histogram_sensitivity(loss.unit),
            noise=law,
            standard_error=None,
            half_width=None,
            coverage=None,
            explanation=f"{self._how(inputs)} {_counting_sentence(per_cent)}",
            details={
                "stages": stages_to_json(stages),
                "trees": [list(inputs.tree(2**k).weights) for k in range(inputs.scales + 1)],
                **self._facts(inputs),
                **total,
            },
        )

    def measure(self, plan: Plan, counts: np.ndarray, noise: Noise) -> Measurement:
        """Choose the partition, then count its blocks: the two private steps.

        counts: (plan.domain.size,) int64 >= 0. Returns one int64 array, laid out as the class says.
        Raises ValueError if the shape, the type or the sign does not fit.
        """
        check_counts(plan.domain, counts)
        padded = np.zeros(2 ** scales(counts.size), dtype=np.int64)
        padded[: counts.size] = counts
        law = plan.stage_laws[self.partition_name]
        assert isinstance(law, DiscreteLaplace)
        exponents = self._partition(plan, law, padded, noise)
        starts = np.cumsum(1 << exponents) - (1 << exponents)
        exponents, starts = exponents[starts < counts.size], starts[starts < counts.size]
        tree, law_of_counts = self._counting(plan, exponents.size)
        noisy = tree.answers(np.add.reduceat(padded, starts))
        noisy += noise.draw(law_of_counts, tree.size)
        return Measurement(np.concatenate([[exponents.size], exponents, noisy]))

    def reconstruct(self, plan: Plan, measurement: Measurement) -> Result:
        """Each block's least-squares estimate spread evenly over its cells, and a possible table near them.

        That table has the public total where the plan holds one, else that of the `nearest_total`; blocks are fixed
        from large groups of them down (`top_down`).
        """
        blocks, cells = int(measurement.values[0]), plan.domain.size
        exponents, values = np.split(measurement.values[1:], [blocks])
        tree, law = self._counting(plan, blocks)
        estimates = tree.estimate(values)[:blocks]
        people = top_down(
            estimates, np.arange(blocks), largest_error(law, tree), total=plan.details.get("total")
        )
        labels = np.repeat(np.arange(blocks), 1 << exponents)[:cells]
        sizes = block_sizes(labels, blocks)
        return Result(
            raw=(estimates / sizes)[labels],
            counts=deal(people, labels, plan.domain.shape),
            partition=labels,
        )

    def noisy_sums(self, plan: Plan, values: np.ndarray) -> list[NoisySums]:
        """The hierarchy's answers: a row adds a weight to one of each level."""
        tree, law = self._counting(plan, int(values[0]))
        return [NoisySums(values[1 + int(values[0]) :], law, 0, max(tree.weights))]

    def _counting(self, plan: Plan, blocks: int) -> tuple[Tree, NoiseLaw]:
        """The hierarchy over so many blocks, and the noise of its answers."""
        per_cent = int(plan.parameters[self.share.name])
        return _tree_and_law(plan.loss, per_cent, tuple(plan.details["trees"][scales(blocks)]))


def _counting_sentence(per_cent: int) -> str:
    """per_cent: of the loss, for the partition."""
    return (
        f"The other {100 - per_cent} % of the cost counts the blocks by a hierarchy. Inside a block people are taken "
        "to be evenly spread, so the error depends on the data and cannot be promised beforehand."
    )


@lru_cache(maxsize=256)
def _tree_and_law(loss: Loss, per_cent: int, weights: tuple[int, ...]) -> tuple[Tree, NoiseLaw]:
    """The tree of these weights, and its noise for what of the loss the partition's share leaves."""
    tree = Tree(weights)
    return tree, strategy_law(share_of(loss, 1 - Fraction(per_cent, 100)), tree)
