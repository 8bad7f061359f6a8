"""Tools for tests of streams: noise that is prescribed or repeatable, and whole streams published in one go."""

from __future__ import annotations

import hashlib

import numpy as np

from mechanisms.continual.mechanism import StreamMechanism, StreamPlan, StreamSecrets
from mechanisms.continual.strategy import Draw, StreamStrategy
from mechanisms.noise import Noise, NoiseLaw, repeatable


def repeatable_noise(seed: str) -> Noise:
    """Real noise from bytes that are the same in every run."""
    return Noise(repeatable(hashlib.sha256(seed.encode()).digest()).bytes)


class NoNoise(Noise):
    """Draws nothing but zeros."""

    def draw(self, law: NoiseLaw, size: int) -> np.ndarray:
        return np.zeros(size, dtype=np.int64)


def prescribed(values: np.ndarray) -> Draw:
    """A draw that hands out the rows of (answers, k) in their order."""
    rows = iter(values)
    return lambda answers: np.array([next(rows) for _ in range(answers)], dtype=np.int64).reshape(answers, -1)


def strategy_noise(strategy: StreamStrategy, periods: int, values: np.ndarray) -> np.ndarray:
    """G(z), (periods, k), for prescribed noise z of the answers in the order in which they are drawn."""
    draw = prescribed(values)
    numbers = strategy.begin(draw)
    published = []
    for period in range(1, periods + 1):
        noise, numbers = strategy.step(period, numbers, draw)
        published.append(noise)
    return np.array(published)


def publish(
    mechanism: StreamMechanism,
    plan: StreamPlan,
    increments: np.ndarray,
    noise: Noise,
    *,
    stored: bool = False,
) -> np.ndarray:
    """All of (periods, k) increments, one period after the other; `stored`: through bytes after each of them."""
    state = mechanism.open(plan, noise)
    released = []
    for row in increments:
        if stored:
            state = StreamSecrets.from_bytes(state.to_bytes())
        counts, state = mechanism.advance(plan, state, row, noise)
        released.append(counts)
    return np.array(released)
