"""Synthetic rows from a private partition of many columns' cells, by PrivTree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from mechanisms.arrays import Flags, Floats, Integers
from mechanisms.histogram.blocks import Boxes
from mechanisms.histogram.privtree import THRESHOLD, decay, split_scale
from mechanisms.histogram.spending import laplace_law, pure_epsilon
from mechanisms.microdata.apportioning import dealt
from mechanisms.microdata.cell_rows import from_columns
from mechanisms.microdata.constraints import TARGET_WEIGHT
from mechanisms.microdata.halving import Halving, Places, grown
from mechanisms.microdata.margins import Margins, to_simplex
from mechanisms.microdata.mechanism import MARGINS, Microdata, split_whole_rows
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.spending import check_tables, table_laws
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.sensitivity import histogram_sensitivity

HALVINGS, LEAVES = "halvings", "leaves"
FAN_OUT = 2


class PrivatePartition(Microdata):
    """Blocks of the product of all columns are halved while their counts look large; then the leaves are counted.

    No array over the product is made: rows are carried from block to block. Which column a block is cut along, and
    where, follows from noisy counts of single columns, so the tree is PrivTree's with a fixed rule of cutting, and its
    decisions cost ε however deep it is (`histogram.privtree.PrivTree` has the proof, which holds for any such rule).
    Leaves are disjoint: their counts are a histogram's. Inside a leaf each column follows its own counts.
    Source: Zhang, Xiao, Xie 2016.
    """

    name = "private-partition"
    title = "Private partition"
    summary = (
        "Divides the space of all columns in two again and again where many lie (PrivTree), and counts the blocks. "
        "For few columns; the more there are, the fewer cuts each of them gets."
    )
    shares = {MARGINS: Fraction(3, 10), HALVINGS: Fraction(3, 10), LEAVES: Fraction(4, 10)}
    pairwise = False
    whole_rows = True
    without_pairs = "rows were counted in blocks of all columns at once."
    heeds = frozenset({"target", "weights"})
    relied_on = (
        "Rows were counted in blocks of all columns at once, so tables of any columns are right as far as the blocks "
        "are small; within a block columns are independent of each other. Of many columns each is cut seldom or never."
    )
    microseconds_per_value = 1.0

    def _check_noise(self, plan: MicrodataPlan) -> None:
        halving_law(plan)
        check_tables(1, 1, plan.step(LEAVES))

    def _further(
        self, plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise
    ) -> Sequence[np.ndarray]:
        """The decisions as 0 and 1, depth by depth, and the noisy counts of the leaves.

        Raises ValueError unless as many whole rows follow the tables as these count.
        """
        packing, packed = split_whole_rows(plan, counts)
        law, places = halving_law(plan), Places(packing, packed)
        decisions, leaves = list[Flags](), list[Integers]()

        def decide(wide: Flags, depth: int) -> Flags:
            decisions.append(decided(places.counts(wide.size)[wide], depth, law, noise))
            return decisions[-1]

        def follow(halved: Flags, axis: Integers, at: Integers) -> None:
            leaves.append(places.counts(halved.size)[~halved])
            places.follow(halved, axis, at)

        grown(plan.domain.shape, _halving(plan, margins), decide, follow)
        (of_leaves,) = table_laws([1], plan.step(LEAVES))
        true = np.concatenate(leaves)
        return [np.concatenate(decisions).astype(np.int64), true + noise.draw(of_leaves, true.size)]

    def _with_rows(
        self,
        plan: MicrodataPlan,
        result: MicrodataResult,
        margins: Margins,
        further: Sequence[Integers],
        random: np.random.Generator,
    ) -> MicrodataResult:
        decisions, noisy = further
        leaves = _leaves(plan, margins, decisions == 1)
        counts = to_simplex(noisy.astype(float), margins.total)
        leaf = dealt(np.zeros(len(result.rows), dtype=np.int64), counts[None, :], random)
        columns = (
            _within(leaf, leaves.lower[:, j], leaves.upper[:, j], margins.counts[j], random)
            for j in range(len(plan.domain.shape))
        )
        return replace(result, rows=from_columns(columns, len(leaf), plan.domain.shape))


def halving_law(plan: MicrodataPlan) -> DiscreteLaplace:
    """λ of PrivTree's decisions, which together cost their share."""
    loss = plan.step(HALVINGS)
    rows = histogram_sensitivity(loss.unit).l1
    return laplace_law(loss, split_scale(FAN_OUT, pure_epsilon(loss) / rows))


def decided(counts: Integers, depth: int, law: DiscreteLaplace, noise: Noise) -> Flags:
    """PrivTree's decisions on blocks at a depth, from their true counts: the private step."""
    bias = decay(FAN_OUT, law.scale)
    biased = np.maximum(counts - depth * bias, THRESHOLD - bias)
    halved: Flags = biased + noise.draw(law, counts.size) > THRESHOLD
    return halved


def _halving(plan: MicrodataPlan, margins: Margins) -> Halving:
    wishes, names = plan.wishes, plan.domain.names
    weights = [wishes.weights.get(n, 1) * (TARGET_WEIGHT if n == wishes.target else 1) for n in names]
    return Halving([margins.shares(j) for j in range(len(names))], weights)


def _leaves(plan: MicrodataPlan, margins: Margins, decisions: Flags) -> Boxes:
    """The leaves in the order of their counts."""
    used = 0

    def decide(wide: Flags, _depth: int) -> Flags:
        nonlocal used
        used += int(wide.sum())
        return decisions[used - int(wide.sum()) : used]

    parts = grown(plan.domain.shape, _halving(plan, margins), decide, lambda _halved, _axis, _at: None)
    return Boxes(np.vstack([p.lower for p in parts]), np.vstack([p.upper for p in parts]))


def _within(
    leaf: Integers, lower: Integers, upper: Integers, counts: Floats, random: np.random.Generator
) -> Integers:
    """(n,) cells of a column: in the range of each row's leaf by the column's counts, or evenly."""
    ranges, of_leaf = np.unique(np.column_stack([lower, upper]), axis=0, return_inverse=True)
    cells = np.arange(counts.size)
    inside = (cells >= ranges[:, :1]) & (cells < ranges[:, 1:])
    shares = np.where(inside, counts, 0.0)
    shares[shares.sum(axis=1) <= 0] = 1.0
    return dealt(of_leaf.ravel()[leaf], np.where(inside, shares, 0.0), random)
