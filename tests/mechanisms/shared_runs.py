"""Many runs of a measurement whose steps follow its own noise, in far fewer calls.

A measurement is a function of its counts and of the answers that its source of noise gives. Runs that were given the
same answers so far are at the same point, so one call serves them all, and all later runs that come there: it tells
what is asked next. That is drawn for each run by itself, and the runs part by what they drew. Where the noise that is
asked for is the last and is only added to the end of the measurement, which is tried with fresh noise at every such
point, it is added for all runs there. Every run's answers are independent draws from the laws that were asked for, so
the outcomes are those of as many independent runs. (Should a measurement treat rare last noise differently, say by
cutting it off, the trial may miss that.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property

import numpy as np

from mechanisms.noise import Noise, NoiseLaw
from tests.mechanisms.audit import READ, Measure, Sampler, no_bytes

# Noise is tried so often at a point; where there are fewer runs than that it is not worth it.
_TRIED, _FEW = 5, 16

Script = list[np.ndarray]
Run = Callable[[Noise], np.ndarray]
Draw = Callable[[Noise, int], np.ndarray]


class EndOfScriptError(Exception):
    """What a measurement asked for when its script had ended.

    draw: (noise, runs) to (runs, size). number: whether it is noise to add, not a choice.
    """

    def __init__(self, draw: Draw, number: bool) -> None:
        super().__init__("the script has ended")
        self.draw, self.number = draw, number


class Scripted(Noise):
    """Gives the answers of a script in turn; after them it stops the measurement with what it asked for."""

    def __init__(self, script: Sequence[np.ndarray]) -> None:
        super().__init__(no_bytes)
        self._script = iter(script)

    def _answer(self, draw: Draw, number: bool) -> np.ndarray:
        for answer in self._script:
            # A copy, since a measurement may add to what it was given.
            return answer.copy()
        return self._beyond(draw, number)

    def _beyond(self, draw: Draw, number: bool) -> np.ndarray:
        raise EndOfScriptError(draw, number)

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        return self._answer(lambda noise, runs: noise.draw(law, runs * size).reshape(runs, size), True)

    def bernoulli_exp(self, rate: Fraction, multiples: np.ndarray) -> np.ndarray:
        return self._answer(
            lambda noise, runs: noise.bernoulli_exp(rate, np.tile(multiples, (runs, 1))), False
        )

    def permutation(self, size: int) -> np.ndarray:
        """Orders of random numbers of 62 bits, which agree by chance in one of 2^60 permutations."""

        def orders(noise: Noise, runs: int) -> np.ndarray:
            return noise.below(np.full(runs * size, 2**62)).reshape(runs, size).argsort(axis=1)

        return self._answer(orders, False)


class Point:
    """Where runs are that were given the same answers so far: what is asked next, or the outcome."""

    def __init__(self, run: Run, script: Script) -> None:
        self._run, self._script = run, script
        self._next: dict[bytes, Point] = {}
        self.outcome: np.ndarray | None = None
        self.asked: EndOfScriptError | None = None
        try:
            self.outcome = run(Scripted(script))
        except EndOfScriptError as asked:
            self.asked = asked

    def after(self, answer: np.ndarray) -> Point:
        """The point of runs that are given this answer; it is found once."""
        key = answer.tobytes()
        if key not in self._next:
            self._next[key] = Point(self._run, [*self._script, answer])
        return self._next[key]

    @cached_property
    def without_last(self) -> np.ndarray | None:
        """The outcome with zeros for what is asked, if that is the last and only added to the end; else None.

        Which is tried with fresh noise.
        """
        assert self.asked is not None
        tried = self.asked.draw(Noise(), _TRIED)
        if not self.asked.number or not tried.size:
            return None
        try:
            values = self._run(Scripted([*self._script, np.zeros_like(tried[0])]))
            outcomes = [self._run(Scripted([*self._script, drawn])) for drawn in tried]
        except EndOfScriptError:
            return None
        added = values.size >= tried.shape[1] and all(o.shape == values.shape for o in outcomes)
        if added and np.array_equal(np.stack(outcomes), values + _at_the_end(tried, values.size)):
            return values
        return None


def shared(measure: Measure) -> Sampler:
    """Runs of any shape; shorter outcomes are filled up, and their length is the first number of a row."""
    starts: dict[bytes, Point] = {}

    def start(counts: np.ndarray) -> Point:
        key = counts.tobytes()
        if key not in starts:
            starts[key] = Point(lambda source: measure(counts, source).ravel(), [])
        return starts[key]

    def sample(counts: np.ndarray, runs: int, noise: Noise) -> np.ndarray:
        rows = np.zeros((runs, READ + 1), dtype=np.int64)
        points = [(start(counts), np.arange(runs))]
        while points:
            point, at = points.pop()
            if point.asked is None:
                assert point.outcome is not None
                _fill(rows, at, point.outcome)
                continue
            drawn = point.asked.draw(noise, at.size)
            if at.size >= _FEW and (values := point.without_last) is not None:
                _fill(rows, at, values + _at_the_end(drawn, values.size))
            else:
                points += [(point.after(drawn[same[0]]), at[same]) for same in _equal(drawn)]
        return rows

    return sample


def _at_the_end(drawn: np.ndarray, size: int) -> np.ndarray:
    """(runs, k) to (runs, size), with zeros in front."""
    return np.pad(drawn, ((0, 0), (size - drawn.shape[1], 0)))


def _equal(drawn: np.ndarray) -> Iterator[np.ndarray]:
    """The places of equal rows."""
    order = np.lexsort(drawn.T[::-1]) if drawn.shape[1] else np.arange(len(drawn))
    changes = (np.diff(drawn[order].astype(np.int64), axis=0) != 0).any(axis=1)
    yield from np.split(order, np.flatnonzero(changes) + 1)


def _fill(rows: np.ndarray, at: np.ndarray, values: np.ndarray) -> None:
    """One outcome for all, or one for each."""
    rows[at, 0] = values.shape[-1]
    rows[at, 1 : 1 + min(READ, values.shape[-1])] = values[..., :READ]
