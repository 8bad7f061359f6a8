"""What to expect of a plan before anything is spent: errors from noise alone, and memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mechanisms.accounting import Loss
from mechanisms.microdata.adversarial.critic import AT_ONCE, HIDDEN
from mechanisms.microdata.adversarial.method import Adversarial
from mechanisms.microdata.coarsening import FEWEST, MOST, most_groups_of
from mechanisms.microdata.latent_classes import MOST_REFINED, MOST_SETTLED, LatentClasses
from mechanisms.microdata.mechanism import MOST_ROWS, margin_laws
from mechanisms.microdata.mixture import CLASSES
from mechanisms.microdata.plan import MicrodataPlan
from mechanisms.microdata.scoring import distortion

# Of rows, of the classes' parameters, of tables of all pairs: how many are in memory at once.
ROW_COPIES, PARAMETER_COPIES, TABLE_COPIES = 5, 9, 3
# Of a block of rows at a time, while a network is trained and used. What PyTorch takes by itself, in bytes.
STEP_COPIES, LOGIT_COPIES = 8, 4
PROGRAM_BYTES = 600 * 2**20
# Above this share of people in a wrong cell a table says next to nothing.
USELESS = 0.5
# What the names of steps that measure tables of pairs begin with.
TABLES = "tables"


@dataclass(frozen=True)
class Foresight:
    """Expected total variation that noise alone causes: of a column's counts, and of the table of a measured pair.

    column, pair: means; pair is None where none is measured. pairs: how many are measured at first. useless:
    whether columns themselves drown in noise.
    """

    column: float
    pair: float | None
    pairs: int
    useless: bool


def foresee(plan: MicrodataPlan, people: int) -> Foresight:
    """For so many people, stated by the curator; an upper bound, as fitting takes some of the noise away again.

    E|noise| of every cell, summed, is twice the people who would have to move. A column has as many groups as the noise
    allows, or its cells if they are fewer.
    """
    laws = margin_laws(plan)
    sizes = plan.domain.shape
    column = sum(c * law.mean_absolute for c, law in zip(sizes, laws, strict=True)) / (
        2 * people * len(sizes)
    )
    measured = len(sizes) - 1 if any(step.startswith(TABLES) for step in plan.shares) else 0
    pair = _pair(plan, people, measured) if measured else None
    return Foresight(min(1.0, column), pair, measured, column > USELESS)


def row_count(plan: MicrodataPlan, people: int) -> int:
    """How many rows are made of so many people."""
    return min(MOST_ROWS, plan.rows or people)


def memory(plan: MicrodataPlan, people: int) -> int:
    """Bytes of arrays, about: counted tables twice; rows while they are made; classes, and tables of all pairs."""
    rows = row_count(plan, people)
    taken = 16 * plan.cells + ROW_COPIES * 8 * rows * len(plan.domain.shape)
    if plan.mechanism == LatentClasses.name:
        cells = sum(plan.domain.shape)
        groups = sum(map(most_groups_of, plan.domain.shape))
        taken += PARAMETER_COPIES * 4 * CLASSES * groups
        if len(plan.domain.shape) <= MOST_SETTLED:
            taken += TABLE_COPIES * 8 * max(groups, cells if cells <= MOST_REFINED else 0) ** 2
    if plan.mechanism == Adversarial.name:
        groups = sum(map(most_groups_of, plan.domain.shape))
        taken += PROGRAM_BYTES + 8 * min(AT_ONCE, rows) * (STEP_COPIES * HIDDEN + LOGIT_COPIES * groups)
    return taken


def _pair(plan: MicrodataPlan, people: int, measured: int) -> float:
    spent = sum(
        (share for step, share in plan.shares.items() if step.startswith(TABLES)),
        start=0 * plan.loss.amount,
    )
    tables: Loss = replace(plan.loss, amount=plan.loss.amount * spent)
    groups = min(MOST, max(FEWEST, math.sqrt(people / (4 * plan.pair_deviation))))
    mean = math.exp(sum(math.log(min(groups, size)) for size in plan.domain.shape) / len(plan.domain.shape))
    return min(1.0, distortion([round(mean**2)] * measured, tables) / (2 * people * measured))
