"""Smooth counts of an ordered column: the mean of all piecewise constant counts, by how likely each is."""

from __future__ import annotations

import numpy as np

from mechanisms.arrays import Floats

# Chances that a count differs from the one before it, each as likely as the others beforehand.
CHANGES = (0.05, 0.2, 0.5, 0.8)
# Levels of pieces are 0 or normal about 0: with the noise's variance, and with ever more of it by this factor.
WIDER = 16
# Cells of a piece at most: the noise of their mean is small by then.
LONGEST = 256


def smoothed(noisy: Floats, variance: float) -> Floats:
    """The expected counts of neighbouring cells, given their noisy ones: (c,).

    noisy: (c,). variance: of each, taken to be normal. Beforehand, counts are constant in pieces: between any two cells
    a new level begins with an unknown chance, one of `CHANGES`. The mean over all ways to cut errs less than the
    likeliest one: at the ends of pieces, where noise hides the cut, it changes gradually.
    Exact, in O(c · min(c, LONGEST)). Source: Fearnhead 2006, with levels of unknown size.
    """
    evidence, levels = _pieces(noisy, variance)
    before = _chains(evidence)
    after = _chains(_reversed(evidence))[:, ::-1]
    likely = np.exp(before[:, -1] - before[:, -1].max())
    likely /= likely.sum()
    steps = np.zeros(noisy.size + 1)
    for length, (own, level) in enumerate(zip(evidence, levels, strict=True), 1):
        starts = noisy.size - length + 1
        chain = _opened(before)[:, :starts] + own[:starts] + _opened(after[:, ::-1])[:, ::-1][:, length:]
        chance = likely @ np.exp(chain + _log_alike()[:, None] * (length - 1) - before[:, -1:])
        steps[:starts] += chance * level[:starts]
        steps[length:] -= chance * level[:starts]
    counts: Floats = steps.cumsum()[:-1]
    return counts


def _pieces(noisy: Floats, variance: float) -> tuple[Floats, Floats]:
    """(lengths, c) by a piece's length less 1 and first cell: how likely it is, as a logarithm, and its expected level.

    -inf and 0 where it would end beyond the last cell.
    """
    size, sums = noisy.size, np.concatenate([[0.0], np.cumsum(noisy)])
    spread = _spreads(noisy, variance)
    evidence, levels = (np.full((min(size, LONGEST), size), empty) for empty in (-np.inf, 0.0))
    for length in range(1, len(evidence) + 1):
        total = (sums[length:] - sums[:-length])[:, None]
        shift = total * spread / (variance + length * spread)
        each = (total * shift / variance - np.log1p(length * spread / variance)) / 2
        together = np.logaddexp.reduce(each, axis=1)
        evidence[length - 1, : size - length + 1] = together - np.log(spread.size)
        levels[length - 1, : size - length + 1] = (np.exp(each - together[:, None]) * shift).sum(axis=1)
    return evidence, levels


def _spreads(noisy: Floats, variance: float) -> Floats:
    """Variances that a piece's level may have, the least first: from 0 to more than the largest count's square."""
    largest = max(float(np.square(noisy).max()) / variance, 1.0)
    powers = np.arange(np.ceil(np.log(largest) / np.log(WIDER)) + 1)
    spreads: Floats = np.concatenate([[0.0], variance * float(WIDER) ** powers])
    return spreads


def _chains(evidence: Floats) -> Floats:
    """(changes, c + 1): how likely the cells before each place are, over all ways to cut them, as logarithms."""
    size, alike = evidence.shape[1], _log_alike()
    chains = np.zeros((alike.size, size + 1))
    for end in range(1, size + 1):
        lengths = np.arange(1, min(end, len(evidence)) + 1)
        first = _opened(chains[:, :end])[:, end - lengths]
        own = evidence[lengths - 1, end - lengths] + alike[:, None] * (lengths - 1)
        chains[:, end] = np.logaddexp.reduce(first + own, axis=1)
    return chains


def _opened(chains: Floats) -> Floats:
    """Chains with the chance that a new level begins after them; before the first cell one always does."""
    change = np.log(np.array(CHANGES))[:, None]
    opened: Floats = chains + change * (np.arange(chains.shape[1]) > 0)
    return opened


def _log_alike() -> Floats:
    """(changes,): the chance that a count is that of the cell before it, as a logarithm."""
    alike: Floats = np.log1p(-np.array(CHANGES))
    return alike


def _reversed(evidence: Floats) -> Floats:
    """The same pieces, with cells numbered from the last one."""
    turned = np.full_like(evidence, -np.inf)
    for row, own in enumerate(evidence):
        turned[row, : own.size - row] = own[: own.size - row][::-1]
    return turned
