"""A conditional DP-GAN whose gradients are whole numbers that meet exact noise: an optional extra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from importlib.util import find_spec

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats, Integers
from mechanisms.microdata.adversarial.critic import AT_ONCE, HIDDEN, People, step_law
from mechanisms.microdata.adversarial.generator import RowMaker
from mechanisms.microdata.apportioning import dealt
from mechanisms.microdata.coarsening import MOST, group, most_groups_of
from mechanisms.microdata.latent_classes import COARSENESS
from mechanisms.microdata.margins import Margins
from mechanisms.microdata.mechanism import MARGINS, Microdata, split_whole_rows, within_groups
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.tables import Grouping, split
from mechanisms.noise import Noise, repeatable
from mechanisms.refusal import Wording

TRAINING = "training"
NEEDS = ("torch", "opacus")
EXTRA = "mechanisms/microdata/adversarial/requirements-gan.txt"
# Full-batch steps of the critic, which share the loss of training equally.
STEPS = 100
# Of a block of rows at a time, while a network is trained and used. What PyTorch takes by itself, in bytes.
STEP_COPIES, LOGIT_COPIES = 8, 4
PROGRAM_BYTES = 600 * 2**20


class Adversarial(Microdata):
    """A critic learns to tell people from made rows, a generator to mislead it; the critic alone meets people.

    Each of its steps needs the sum over all people of a gradient that is clipped row by row (`critic`): integers, whose
    L2 norm one person moves by at most C. With discrete Gaussian noise a step is a Gaussian mechanism that costs ρ over
    the number of steps; nothing is subsampled, so ρ adds up exactly and no δ is spent beside it. Weights follow from
    noisy sums and public numbers.
    Nothing but integers meets people, so the bound and the independence of a row from the others are exact.
    Source: Xie, Lin, Wang, Wang, Zhou 2018; noise on integers after Kairouz, Liu, Steinke 2021.
    """

    name = "dp-gan"
    title = "DP-GAN"
    summary = (
        "Trains a neural network to make rows that a second network cannot tell from real ones, the second one by "
        "clipped gradients with noise. To compare with: trees and classes are closer, in less time."
    )
    definitions = frozenset({Definition.ZCDP})
    shares = {MARGINS: Fraction(3, 10), TRAINING: Fraction(7, 10)}
    pairwise = False
    whole_rows = True
    without_pairs = "rows are made by a network that learnt from noisy sums over all people."
    heeds = frozenset({"target"})
    relied_on = (
        "Only single columns were counted, and columns.csv has those counts. How columns go together is what a network "
        "learnt from noisy sums over all of them, and nothing tells how near to the truth that is."
    )
    # Of a single table, Adult.
    microseconds_per_value = 50.0
    simulated_last = True

    def further_memory(self, plan: MicrodataPlan, people: int, rows: int) -> int:
        """Of PyTorch itself, and of a block of rows while networks are trained and used."""
        groups = sum(map(most_groups_of, plan.domain.shape))
        return PROGRAM_BYTES + 8 * min(AT_ONCE, rows) * (STEP_COPIES * HIDDEN + LOGIT_COPIES * groups)

    @property
    def missing(self) -> str:
        if all(find_spec(package) for package in NEEDS):
            return ""
        return Wording(
            "It needs PyTorch and Opacus, some 5 GB: pip install -r {extra} adds them.", extra=EXTRA
        )

    def _check_noise(self, plan: MicrodataPlan) -> None:
        groups = sum(min(MOST + 1, size) for size in plan.domain.shape)
        step_law(groups, STEPS, plan.step(TRAINING))

    def _further(
        self, plan: MicrodataPlan, counts: Integers, margins: Margins, noise: Noise
    ) -> Sequence[np.ndarray]:
        """The groups of each column's cells, and the trained generator.

        Raises ValueError unless as many whole rows follow the tables as these count.
        """
        from mechanisms.microdata.adversarial import training

        grouping = _grouping(plan, margins)
        packing, packed = split_whole_rows(plan, counts)
        people = People.of(packing.blocks(packed), grouping)
        loss = plan.step(TRAINING)
        training.check_account(float(loss.amount), STEPS)
        law = step_law(people.cells, STEPS, loss)

        def noisy(weights: Integers, answers: Integers) -> Integers:
            true = people.gradient(weights, answers)
            return true + noise.draw(law, true.size)

        random = repeatable(sha256(np.concatenate(margins.counts).tobytes()).digest())
        shares = _shares(grouping, margins)
        trained = training.trained(shares, condition(plan), margins.total, STEPS, noisy, random)
        return [np.concatenate(grouping.groups), trained.record()]

    def _with_rows(
        self,
        plan: MicrodataPlan,
        result: MicrodataResult,
        margins: Margins,
        further: Sequence[Integers],
        random: np.random.Generator,
    ) -> MicrodataResult:
        groups, weights = further
        grouping, given = grouping_of(plan, groups), condition(plan)
        generator, shares = RowMaker.recorded(weights, grouping.sizes, given), _shares(grouping, margins)
        everyone = np.zeros(len(result.rows), dtype=np.int64)
        conditions = dealt(everyone, shares[given][None, :], random)
        rows = generator.rows(conditions, shares, random)
        return replace(result, rows=within_groups(rows, grouping, margins, random))


def condition(plan: MicrodataPlan) -> int:
    """The place of the column whose value a row is made for: the target, or the last."""
    names = plan.domain.names
    return names.index(plan.wishes.target) if plan.wishes.target else len(names) - 1


def _grouping(plan: MicrodataPlan, margins: Margins) -> Grouping:
    """Cells put together as for latent classes."""
    return group(plan.domain.attributes, margins, plan.pair_deviation, COARSENESS)


def grouping_of(plan: MicrodataPlan, groups: Integers) -> Grouping:
    """The groups that were recorded."""
    return Grouping(tuple(split(groups, plan.domain.shape)))


def _shares(grouping: Grouping, margins: Margins) -> list[Floats]:
    """Of each column's groups."""
    return [grouping.vector(margins.shares(j), j) for j in range(len(grouping.sizes))]
