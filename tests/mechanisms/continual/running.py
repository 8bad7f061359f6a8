"""Strategies in tests as matrices: what they ask, and what they make of given noise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mechanisms.continual.strategy import Strategy


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
