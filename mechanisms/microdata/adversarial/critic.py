"""What people tell a critic: the sum of their clipped gradients, in whole numbers from the first to the last."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from mechanisms.accounting import Loss, PrivacyUnit
from mechanisms.arrays import Integers
from mechanisms.calibration import count_law
from mechanisms.microdata.tables import Grouping
from mechanisms.noise import NoiseLaw
from mechanisms.sensitivity import Sensitivity, unit_sensitivity

HIDDEN = 64
# Rows whose gradients are in memory at a time.
AT_ONCE = 2**13
# Weights are whole multiples of 2^-WEIGHT_BITS, at most LARGEST of them; gradients of 2^-GRADIENT_BITS.
WEIGHT_BITS, GRADIENT_BITS = 10, 14
LARGEST = 2**14
# The bound C on the norm of a row's gradient, 1 in units of gradients.
CLIP = 2**GRADIENT_BITS
# How much a negative number counts: a quarter.
LEAK_BITS = 2
# Answers of the critic are looked up in steps of 2^-ANSWER_BITS, up to 8.
ANSWER_BITS, REACH = 8, 2**11
_DOUBT = np.rint(2**WEIGHT_BITS / (1 + np.exp(np.arange(-REACH, REACH + 1) / 2**ANSWER_BITS))).astype(
    np.int64
)


def parameters(cells: int) -> int:
    """Weights of a critic for rows of one-hot columns with so many cells together."""
    return (cells + 1) * HIDDEN


def gradient_sensitivity(cells: int, unit: PrivacyUnit) -> Sensitivity:
    """How far one person moves the sum of rows' gradients.

    A row's gradient is an integer vector whose squared norm is at most C², compared exactly. It depends on the row and
    on the public weights alone: so a row that enters or leaves moves the sum by at most C in L2, one that becomes
    another by 2C. The L1 norm of P numbers is at most √P times as large.
    """
    root = 1 + math.isqrt(parameters(cells))
    entered = Sensitivity(CLIP * root, CLIP**2)
    return unit_sensitivity(unit, entered, Sensitivity(2 * CLIP * root, 4 * CLIP**2))


def step_law(cells: int, steps: int, loss: Loss) -> NoiseLaw:
    """The noise of each number of a step's sum; `steps` of them together cost the loss (composition of ρ)."""
    one = Loss(loss.definition, loss.amount / steps, loss.unit)
    return count_law(one, gradient_sensitivity(cells, loss.unit))


@dataclass(frozen=True)
class People:
    """People's rows, which nobody may see: of each row the places of its groups among all columns' groups.

    places: (n, d), of the smallest unsigned type.
    """

    places: np.ndarray
    cells: int

    @classmethod
    def of(cls, blocks: Iterable[Integers], grouping: Grouping) -> People:
        """blocks: rows of cells, (n, d) each."""
        cells = sum(grouping.sizes)
        kind = np.min_scalar_type(cells)
        result = [np.empty((0, len(grouping.sizes)), dtype=kind)]
        for rows in blocks:
            columns = [
                g[rows[:, j]] + o
                for j, (g, o) in enumerate(zip(grouping.groups, grouping.offsets, strict=True))
            ]
            result.append(np.column_stack(columns).astype(kind))
        return cls(np.concatenate(result), cells)

    def gradient(self, weights: Integers, answers: Integers) -> Integers:
        """The sum over rows of the clipped gradient of ln(1 + e^(-critic(row))), in whole numbers.

        weights: (cells, HIDDEN), answers: (HIDDEN,), as `to_integers` makes them. Returns (parameters,) int64, those of
        `weights` first.
        """
        of_weights = np.zeros(weights.shape, dtype=np.int64)
        of_answers = np.zeros(answers.shape, dtype=np.int64)
        for start in range(0, len(self.places), AT_ONCE):
            rows = _one_hot(self.places[start : start + AT_ONCE], self.cells)
            inner, outer = _clipped(rows @ weights, answers, self.places.shape[1])
            of_weights += rows.T @ inner
            of_answers += outer.sum(axis=0)
        return np.concatenate([of_weights.ravel(), of_answers])


def to_integers(values: np.ndarray) -> Integers:
    """Weights as the nearest whole multiples of their unit."""
    nearest: Integers = np.clip(np.rint(values * 2**WEIGHT_BITS), -LARGEST, LARGEST).astype(np.int64)
    return nearest


def _one_hot(places: np.ndarray, cells: int) -> csr_matrix:
    rows, columns = places.shape
    ends = np.arange(0, rows * columns + 1, columns)
    return csr_matrix(
        (np.ones(places.size, dtype=np.int64), places.ravel().astype(np.int64), ends), (rows, cells)
    )


def _clipped(reached: Integers, answers: Integers, columns: int) -> tuple[Integers, Integers]:
    """Each row's gradient by the hidden sums, which every one of its columns' weights has, and by the answers.

    reached: (n, HIDDEN) hidden sums. Every operation is on whole numbers but for the factor of a long gradient: a
    square root, a quotient and a product of single numbers, which are rounded the same for every row. Its cut
    towards 0 can only shorten, and a row that were still too long would count for nothing.
    """
    hidden = np.where(reached > 0, reached, reached >> LEAK_BITS)
    answer = (hidden @ answers) >> (2 * WEIGHT_BITS - ANSWER_BITS)
    doubt = _DOUBT[np.clip(answer, -REACH, REACH) + REACH][:, None]
    slope = np.where(reached > 0, 2**LEAK_BITS, 1)
    inner = -((doubt * answers * slope) >> (2 * WEIGHT_BITS + LEAK_BITS - GRADIENT_BITS))
    outer = -((doubt * hidden) >> (2 * WEIGHT_BITS - GRADIENT_BITS))
    squared = _squared(inner, outer, columns)
    factor = np.minimum(1.0, CLIP / np.sqrt(np.maximum(squared, 1)))[:, None]
    inner, outer = (np.trunc(part * factor).astype(np.int64) for part in (inner, outer))
    short = (_squared(inner, outer, columns) <= CLIP**2)[:, None]
    return inner * short, outer * short


def _squared(inner: Integers, outer: Integers, columns: int) -> Integers:
    result: Integers = columns * (inner**2).sum(axis=1) + (outer**2).sum(axis=1)
    return result
