"""The mechanisms that choose. What is random about a choice is exact: coins of rational exponents and integers.

Each draws for many independent runs at once; a release is one run.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition, Loss, Neighbours, plainly, pure_within_zcdp
from mechanisms.arrays import Flags, Integers
from mechanisms.noise import DiscreteLaplace, Noise
from mechanisms.number_text import with_two_decimals
from mechanisms.protocol import Measurement, PlanError
from mechanisms.selection import odds
from mechanisms.selection.plan import SelectionPlan
from mechanisms.selection.score import Score, ScoreBound

MAX_AMOUNT = 1000
MAX_SCALE = 10**9
LARGEST_LEAD = 2**40
GAPS_IN_ROWS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
# Scores are clipped here, which moves no two of them further apart, so that their differences fit 64 bits.
_LARGEST_SCORE = 2**61
_BLOCK = 2**20


class Selection:
    """What the mechanisms share; a subclass says how one candidate is chosen."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.PURE, Definition.ZCDP})
    # A pick of pure loss ε costs at most ε²/(2·this) in zCDP.
    _concentration: ClassVar[int] = 1

    def plan(self, score: Score, loss: Loss, picks: int = 1) -> SelectionPlan:
        """Decide everything without data; `picks` candidates are chosen one after the other, each at loss/picks.

        Raises PlanError if the loss or the number of picks does not fit.
        """
        candidates = len(score.candidates)
        if not 1 <= picks <= candidates:
            raise PlanError(
                "Choose between 1 and {candidates} of the {candidates} candidates, not {picks}.",
                candidates=candidates,
                picks=picks,
            )
        bound = score.bound(loss.unit)
        epsilon = self._round_epsilon(loss, picks)
        rate = epsilon / (bound.sensitivity * (1 if bound.monotone else 2))
        if rate * MAX_SCALE < 1:
            raise PlanError(
                "{symbol} = {float:g} is too small to tell any two candidates apart. Choose a larger "
                "{symbol}.",
                symbol=loss.symbol,
                float=float(loss.amount),
            )
        return SelectionPlan(
            mechanism=self.name,
            score=score,
            loss=loss,
            picks=picks,
            bound=bound,
            round_epsilon=epsilon,
            rate=rate,
            resolved=tuple((gap, self._resolved(rate, gap * score.points_per_row)) for gap in GAPS_IN_ROWS),
            explanation=_explanation(loss, bound, epsilon, rate * score.points_per_row, picks),
        )

    def lead(self, plan: SelectionPlan, chance: float) -> int:
        """The fewest rows by which the better of two candidates has to lead to win a pick with that chance, < 1."""
        leads, points = range(1, LARGEST_LEAD), plan.score.points_per_row
        return 1 + bisect_left(leads, chance, key=lambda rows: self._resolved(plan.rate, rows * points))

    def shortfall(self, plan: SelectionPlan, chance: float) -> int:
        """By fewer rows than these the first choice trails the best candidate, with that chance, < 1, at least.

        However many others there are, a candidate wins at most as often as it does against the best one alone. So each
        of them that trails by the shortfall wins with its share of 1 - chance at most.
        """
        return self.lead(plan, 1 - (1 - chance) / (len(plan.candidates) - 1))

    def measure(self, plan: SelectionPlan, scores: np.ndarray, noise: Noise) -> Measurement:
        """Choose. The only step that spends the loss.

        scores: (candidates,) integers, `plan.score.scores(counts)`. Returns the chosen candidates' indices,
        best first, as (picks,) int64. Raises ValueError if the shape or the type does not fit.
        """
        return Measurement(self.sample(plan, scores, 1, noise)[0])

    def sample(self, plan: SelectionPlan, scores: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
        """`runs` independent choices, (runs, picks) int64; every one of them would spend the loss again."""
        checked = _checked(plan, scores)
        block = max(1, _BLOCK // checked.size)
        sizes = [min(block, runs - start) for start in range(0, runs, block)]
        return np.concatenate([self._peel(plan, checked, size, noise) for size in sizes])

    def probabilities(
        self, plan: SelectionPlan, scores: np.ndarray, taken: tuple[int, ...] = ()
    ) -> np.ndarray:
        """The probability that each candidate is the next pick after those `taken`, (candidates,) floats.

        It depends on the data: for the curator's eyes only.
        """
        checked = _checked(plan, scores)
        left = np.setdiff1d(np.arange(checked.size), taken)
        if not left.size:
            raise ValueError("every candidate is taken")
        chances = np.zeros(checked.size)
        chances[left] = self._odds(float(plan.rate), checked[left].max() - checked[left])
        return chances

    def _peel(self, plan: SelectionPlan, scores: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
        picked = np.empty((runs, plan.picks), dtype=np.int64)
        left = np.ones((runs, scores.size), dtype=bool)
        for pick in range(plan.picks):
            picked[:, pick] = self.choose(plan.rate, scores, left, noise)
            left[np.arange(runs), picked[:, pick]] = False
        return picked

    def _round_epsilon(self, loss: Loss, picks: int) -> Fraction:
        """The pure loss of one pick: the picks' losses add up to the whole."""
        if loss.amount > MAX_AMOUNT:
            raise PlanError(
                "{symbol} = {float:g} protects nobody. Choose at most {max_amount}.",
                symbol=loss.symbol,
                float=float(loss.amount),
                max_amount=MAX_AMOUNT,
            )
        if loss.definition is Definition.PURE:
            return loss.amount / picks
        try:
            return pure_within_zcdp(self._concentration * loss.amount / picks)
        except ValueError as error:
            raise PlanError(
                "{symbol} is too small for a choice. Choose a larger one.", symbol=loss.symbol
            ) from error

    def _resolved(self, rate: Fraction, gap: int) -> float:
        return float(self._odds(float(rate), np.array([0, gap]))[0])

    def choose(self, rate: Fraction, scores: np.ndarray, left: np.ndarray, noise: Noise) -> np.ndarray:
        """One candidate for each run among those left: (runs, candidates) bool to (runs,) indices."""
        raise NotImplementedError

    def _odds(self, rate: float, gaps: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class PermuteAndFlip(Selection):
    """Stop at the first head in a random order, candidate r's coin having probability exp(-rate·(best - u(r))).

    The coins are independent of the order, so the first head is an even choice among all heads.
    Source: McKenna and Sheldon 2020, Algorithm 1; for monotone scores see mechanisms/selection/README.md.
    """

    name: ClassVar[str] = "permute-and-flip"
    title: ClassVar[str] = "Permute and flip"
    summary: ClassVar[str] = "Never worse than the exponential mechanism in expectation; the default."

    def choose(self, rate: Fraction, scores: np.ndarray, left: np.ndarray, noise: Noise) -> np.ndarray:
        heads = noise.bernoulli_exp(rate, _gaps(scores, left)) & left
        return _even_choice(heads, noise)

    def _odds(self, rate: float, gaps: np.ndarray) -> np.ndarray:
        return odds.permute_and_flip(rate, gaps)


class ExponentialMechanism(Selection):
    """P(r) ∝ exp(rate·u(r)): an even proposal, kept with probability exp(-rate·(best - u(r))), else another.

    It is ε-bounded-range, so ε²/8-zCDP (Cesar and Rogers 2021). Source: McSherry and Talwar 2007.
    """

    name: ClassVar[str] = "exponential-mechanism"
    title: ClassVar[str] = "Exponential mechanism"
    summary: ClassVar[str] = "Chances fall exponentially with the score; the cheapest under a budget in ρ."
    _concentration: ClassVar[int] = 4

    def choose(self, rate: Fraction, scores: np.ndarray, left: np.ndarray, noise: Noise) -> np.ndarray:
        gaps, candidates = _gaps(scores, left), scores.size
        chosen = np.empty(len(left), dtype=np.int64)
        open_runs = np.arange(len(left))
        while open_runs.size:
            bounds = np.full(open_runs.size * candidates, candidates)
            proposals = noise.below(bounds).reshape(open_runs.size, candidates)
            rows = open_runs[:, None]
            accepted = noise.bernoulli_exp(rate, gaps[rows, proposals]) & left[rows, proposals]
            any_accepted, first = accepted.any(axis=1), accepted.argmax(axis=1)
            chosen[open_runs[any_accepted]] = proposals[any_accepted, first[any_accepted]]
            open_runs = open_runs[~any_accepted]
        return chosen

    def _odds(self, rate: float, gaps: np.ndarray) -> np.ndarray:
        return odds.exponential(rate, gaps)


class ReportNoisyMax(Selection):
    """The largest score after discrete Laplace noise of scale 1/rate, equal noisy scores drawing lots.

    2Δ/ε in general, Δ/ε for monotone scores alone; mechanisms/selection/README.md has the proof for integers and ties.
    Source: Dwork and Roth 2014, Claim 3.9.
    """

    name: ClassVar[str] = "report-noisy-max"
    title: ClassVar[str] = "Report noisy max"
    summary: ClassVar[str] = "Adds two-sided noise to every score and reports the largest."

    def choose(self, rate: Fraction, scores: np.ndarray, left: np.ndarray, noise: Noise) -> np.ndarray:
        noises = noise.draw(DiscreteLaplace(1 / rate), left.size).reshape(left.shape)
        noisy = np.where(left, scores + noises, np.iinfo(np.int64).min)
        return _even_choice(noisy == noisy.max(axis=1, keepdims=True), noise)

    def _odds(self, rate: float, gaps: np.ndarray) -> np.ndarray:
        return odds.noisy_max(rate, gaps)


def _checked(plan: SelectionPlan, scores: np.ndarray) -> Integers:
    expected = (len(plan.candidates),)
    if scores.shape != expected:
        raise ValueError(f"scores must have shape {expected}, got {scores.shape}")
    if not np.issubdtype(scores.dtype, np.integer):
        raise ValueError(f"scores must be integers, none of them missing; got {scores.dtype}")
    clipped: Integers = np.clip(scores, -_LARGEST_SCORE, _LARGEST_SCORE).astype(np.int64)
    return clipped


def _gaps(scores: Integers, left: Flags) -> Integers:
    """How far each candidate trails the best that is left, 0 for those taken: (runs, candidates) int64."""
    best = np.where(left, scores, np.iinfo(np.int64).min).max(axis=1, keepdims=True)
    gaps: Integers = np.maximum(0, best - scores)
    return gaps


def _even_choice(among: Flags, noise: Noise) -> Integers:
    """For each row of a (runs, candidates) bool the index of one of its true places, each as likely."""
    position = noise.below(among.sum(axis=1))
    chosen: Integers = (among.cumsum(axis=1) > position[:, None]).argmax(axis=1)
    return chosen


def _explanation(loss: Loss, bound: ScoreBound, epsilon: Fraction, rate_per_row: Fraction, picks: int) -> str:
    rows = "1 row counts" if loss.unit.max_rows == 1 else f"at most {loss.unit.max_rows} rows count"
    change = "Adding or removing" if loss.unit.neighbours is Neighbours.ADD_REMOVE else "Replacing"
    moved = f"{float(bound.sensitivity):g}"
    if bound.monotone:
        moved = f"{moved}, all in one direction"
    times = "The choice" if picks == 1 else f"Each of {picks} choices"
    cost = with_two_decimals(plainly(epsilon, 6))
    price = cost if picks == 1 else f"{cost}, together {loss}"
    counted = "rows" if loss.unit.counts_rows else "people"
    return (
        f"{change} one person, of whom {rows}, changes every score by at most {moved}. "
        f"{times} costs ε = {price}; a candidate that trails by "
        f"{plainly(math.ceil(1 / rate_per_row))} {counted} is less than half as likely as the best."
    )
