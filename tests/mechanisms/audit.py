"""Statistical audit: a lower bound on the privacy loss of a mechanism, from many runs on two neighbouring inputs.

A pilot chooses events: unions of outcomes that look likelier under one input. Fresh runs then
bound their probabilities by Clopper-Pearson intervals. If P(E) > e^ε P'(E) + δ for any of them, the claim is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from scipy.stats import beta

from mechanisms.accounting import Definition, Loss, zcdp_to_epsilon
from mechanisms.noise import DiscreteLaplace, Noise, NoiseLaw
from tests.nightly import NIGHTLY

MILLION = 10**6
# Enough to refute half the noise; at night ten times as many come nearer to the loss itself.
RUNS = MILLION if NIGHTLY else MILLION // 10
# Over all events of all audits together, a right claim is refuted with at most this probability.
FALSE_ALARM = 1e-6
MAX_AUDITS = 100
MASSES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7)
DELTAS = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4)
_ALPHA = FALSE_ALARM / (MAX_AUDITS * 2 * len(MASSES) * 2 * len(DELTAS))
# Lanes that are compared with single runs.
_TRIED = 5
READ, _INFORMATIVE, _FEW_VALUES = 24, 6, 12
_BLOCK, _PILOT = 500_000, 100_000

Sampler = Callable[[np.ndarray, int, Noise], np.ndarray]
Measure = Callable[[np.ndarray, Noise], np.ndarray]


class Weakened(Noise):
    """Half of the noise that is asked for: what a broken mechanism would draw."""

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        if isinstance(law, DiscreteLaplace):
            return super().draw(DiscreteLaplace(law.scale / 2), size)
        return super().draw(type(law)(law.variance_parameter / 4), size)

    def bernoulli_exp(self, rate: Fraction, multiples: np.ndarray) -> np.ndarray:
        return super().bernoulli_exp(2 * rate, multiples)


def no_bytes(size: int) -> bytes:
    raise TypeError("lanes have noise to add and nothing else")


class Lanes(Noise):
    """Noise for many runs of one measurement: wherever it asks for `size` draws it gets (runs, size)."""

    def __init__(self, noise: Noise, runs: int) -> None:
        super().__init__(no_bytes)
        self._noise, self._runs = noise, runs
        self.drawn: list[np.ndarray] = []

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        lanes = self._noise.draw(law, self._runs * size).reshape(self._runs, size)
        if self._runs <= _TRIED:
            self.drawn.append(lanes)
        return lanes


class Replayed(Noise):
    """Hands out one lane's draws again, one call after the other."""

    def __init__(self, lanes: Lanes, lane: int) -> None:
        super().__init__(no_bytes)
        self._draws = iter([draw[lane] for draw in lanes.drawn])

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        return next(self._draws)


def runs_in_lanes(measure: Measure, counts: np.ndarray) -> bool:
    """Whether many runs can share one call: each lane must be what a run by itself gives with the same draws."""
    lanes = Lanes(Noise(), _TRIED)
    try:
        together = measure(counts, lanes)
        alone = [measure(counts, Replayed(lanes, lane)) for lane in range(_TRIED)]
    except (ValueError, TypeError, IndexError, StopIteration):
        return False
    return together.ndim == 2 and np.array_equal(together, np.stack(alone))


def in_lanes(measure: Measure) -> Sampler:
    return lambda counts, runs, noise: measure(counts, Lanes(noise, runs))


@dataclass(frozen=True)
class Claim:
    """P(E) <= e^ε P'(E) + δ for every event E and each of these pairs (ε, δ)."""

    pairs: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, loss: Loss) -> Claim:
        if loss.definition is Definition.PURE:
            return cls(((float(loss.amount), 0.0),))
        return cls(tuple((zcdp_to_epsilon(float(loss.amount), delta), delta) for delta in DELTAS))


@dataclass(frozen=True)
class Verdict:
    """The pair (ε, δ) that came nearest to being refuted, with the lower bound on ε at that δ."""

    runs: int
    stated: float
    delta: float
    bound: float

    @property
    def refuted(self) -> bool:
        return self.bound > self.stated


def audit(
    sample: Sampler, inputs: tuple[np.ndarray, np.ndarray], claim: Claim, runs: int, noise: Noise
) -> Verdict:
    """Bound the loss from `runs` fresh runs on each of two neighbouring inputs, after a pilot."""
    pilots = [_sampled(sample, x, min(runs // 3, _PILOT), noise) for x in inputs]
    outcomes = Outcomes(*pilots)
    keys = [outcomes.keys(_sampled(sample, x, runs, noise)) for x in inputs]
    verdicts = []
    for first, second, order in ((0, 1, outcomes.order), (1, 0, outcomes.order[::-1])):
        ends = outcomes.events(order, first)
        likelier, rarer = (_hits(keys[side], order, ends) for side in (first, second))
        verdicts += [_verdict(likelier, rarer, runs, stated, delta) for stated, delta in claim.pairs]
    return max(verdicts, key=lambda v: v.bound - v.stated)


class Outcomes:
    """The finitely many outcomes that an audit tells apart, and how likely the pilots found each.

    The most informative numbers of an outcome are cut into a few ranges each; a key names one combination.
    """

    def __init__(self, first: np.ndarray, second: np.ndarray) -> None:
        width = min(first.shape[1], READ + 1)
        cuts = [_cuts(first[:, j], second[:, j]) for j in range(width)]
        gain = [_gain(*(np.digitize(p[:, j], cuts[j]) for p in (first, second))) for j in range(width)]
        self._chosen = np.argsort(gain)[::-1][:_INFORMATIVE]
        self._cuts = [cuts[j] for j in self._chosen]
        codes = [self._codes(pilot) for pilot in (first, second)]
        self._known = np.unique(np.concatenate(codes))
        self._found = np.stack(
            [np.bincount(self.keys(p), minlength=self._known.size) for p in (first, second)]
        )
        a, b = self._found[:, : self._known.size] + 1
        # Likeliest under the first input come first; rare outcomes prove little and come in the middle.
        ratio = np.log(a / b)
        self.order = np.argsort(-np.sign(ratio) * np.maximum(0, np.abs(ratio) - np.sqrt(1 / a + 1 / b)))

    def _codes(self, values: np.ndarray) -> np.ndarray:
        code = np.zeros(len(values), dtype=np.int64)
        for j, cuts in zip(self._chosen, self._cuts, strict=True):
            code = code * (len(cuts) + 1) + np.digitize(values[:, j], cuts)
        return code

    def keys(self, values: np.ndarray) -> np.ndarray:
        """(runs,) the outcome of each run; those that no pilot met are the number of outcomes."""
        codes = self._codes(values)
        place = np.searchsorted(self._known, codes)
        met = self._known[np.minimum(place, self._known.size - 1)] == codes
        return np.where(met, place, self._known.size)

    def events(self, order: np.ndarray, side: int) -> np.ndarray:
        """How many outcomes, in this order, make up events of about the given probabilities."""
        mass = self._found[side][order].cumsum() / self._found[side].sum()
        return np.minimum(np.searchsorted(mass, MASSES) + 1, order.size)


def _sampled(sample: Sampler, counts: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
    sizes = [min(_BLOCK, runs - start) for start in range(0, runs, _BLOCK)]
    return np.concatenate([sample(counts, size, noise) for size in sizes]).astype(np.int64)


def _cuts(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Where to cut one number: between all its values if they are few, else at the two means and in the tails."""
    values = np.unique(np.concatenate([first, second]))
    if values.size <= _FEW_VALUES:
        return np.array([(a + b) / 2 for a, b in pairwise(values)])
    low, high = sorted(np.rint([first.mean(), second.mean()]))
    tails = np.quantile(np.concatenate([first, second]), [0.1, 0.9])
    return np.unique([*tails, low + 0.5, max(low, high - 1) + 0.5])


def _gain(first: np.ndarray, second: np.ndarray) -> float:
    """How differently two pilots fall into ranges: Pearson's statistic over its degrees of freedom."""
    a, b = (np.bincount(x, minlength=max(first.max(), second.max()) + 1) for x in (first, second))
    either = a + b > 0
    return float((((a - b) ** 2)[either] / (a + b)[either]).sum() / either.sum())


def _hits(keys: np.ndarray, order: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """How many runs fall into each event, an event being the first outcomes of an order."""
    found = np.bincount(keys, minlength=order.size + 1)[order]
    return found.cumsum()[ends - 1]


def _verdict(first: np.ndarray, second: np.ndarray, runs: int, stated: float, delta: float) -> Verdict:
    """ln((P - δ)/P') of the best event, P by its lower and P' by its upper Clopper-Pearson bound."""
    with np.errstate(invalid="ignore", divide="ignore"):
        lower = np.nan_to_num(beta.ppf(_ALPHA, first, runs - first + 1))
        upper = np.nan_to_num(beta.ppf(1 - _ALPHA, second + 1, runs - second), nan=1.0)
        bound = np.log(np.maximum(lower - delta, 0) / upper)
    return Verdict(runs, stated, delta, float(bound.max()))
