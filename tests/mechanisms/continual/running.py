"""Running counts in tests: noise that is chosen instead of drawn, and whole streams at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.continual.mechanism import State, StreamMechanism, StreamPlan, StreamRequest
from mechanisms.continual.strategy import Strategy
from mechanisms.noise import Noise, NoiseLaw


class NoNoise(Noise):
    """Draws zeros."""

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)


def planned(
    mechanism: StreamMechanism, horizon: int | None, definition: Definition, series: int = 1
) -> StreamPlan:
    return mechanism.plan(StreamRequest(horizon, series), Loss(definition, Fraction(1)))


def published(
    mechanism: StreamMechanism,
    plan: StreamPlan,
    increments: np.ndarray,
    noise: Noise,
    *,
    stored: bool = False,
) -> np.ndarray:
    """(N, k) released running counts for (N, k) increments; with `stored`, every state goes through bytes."""
    state = mechanism.open(plan, noise)
    released = []
    for increment in increments:
        state = State.from_bytes(state.to_bytes()) if stored else state
        counts, state = mechanism.advance(plan, state, increment, noise)
        released.append(counts)
    return np.array(released)


@dataclass
class Answers:
    """A strategy run on given noise: `given` is handed out in the order in which it is asked for."""

    strategy: Strategy
    asked: int = field(default=0)

    def noise_of(self, given: np.ndarray, periods: int) -> np.ndarray:
        """(periods,) G(z), the noise of the running counts, for the (m,) noise z of the strategy's answers."""
        self.asked = 0

        def draw(answers: int) -> np.ndarray:
            self.asked += answers
            return given[self.asked - answers : self.asked, np.newaxis].astype(np.int64)

        numbers = self.strategy.begin(draw)
        noise = []
        for period in range(1, periods + 1):
            part, numbers = self.strategy.step(period, numbers, draw)
            noise.append(int(part[0]))
        return np.array(noise)


@dataclass(frozen=True)
class Answer:
    """One weighted sum over the periods after..upto, in the order of drawing."""

    after: int
    upto: int
    weight: int


def matrix(answers: list[Answer], periods: int) -> np.ndarray:
    """A, (m, periods) whole numbers."""
    rows = np.zeros((len(answers), periods), dtype=np.int64)
    for row, answer in zip(rows, answers, strict=True):
        row[answer.after : answer.upto] = answer.weight
    return rows
