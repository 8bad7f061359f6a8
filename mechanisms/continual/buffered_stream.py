"""The mechanism of buffered weights: what is published, period by period, and what it remembers."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.continual.buffered import (
    BUFFER_BITS,
    PARAMETER_BITS,
    BufferedToeplitz,
    best_buffers,
    buffered_toeplitz,
    column_energy,
)
from mechanisms.continual.mechanism import StreamPlan, StreamSecrets
from mechanisms.continual.stream import PlannedStream, check_increments
from mechanisms.json_types import JsonObject
from mechanisms.noise import Noise


class BufferedToeplitzStream(PlannedStream[BufferedToeplitz]):
    """Gaussian noise correlated by a few buffers: nearly the square root's error, in memory that does not grow.

    A state's numbers are, for each series, the buffers of the true increments ("truth"), those of their estimates
    ("guess"), and the estimated running count ("estimate"); the last two could be seen by anyone, the first by none.
    """

    name: ClassVar[str] = "buffered-toeplitz"
    title: ClassVar[str] = "Buffered weights"
    summary: ClassVar[str] = (
        "Gaussian noise shared between periods with fading weights that a few numbers remember: for long streams."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.ZCDP})

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        assert horizon is not None  # `endless` is False
        decays, weights = best_buffers(horizon)
        theta, omega = (np.array(numbers) / 2.0**PARAMETER_BITS for numbers in (decays, weights))
        head = math.floor(grid / math.sqrt(column_energy(theta, omega, horizon)))
        return {"kept": list(decays), "weights": list(weights), "head": head}

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> BufferedToeplitz:
        assert horizon is not None
        return buffered_toeplitz(horizon, tuple(details["kept"]), tuple(details["weights"]), details["head"])

    def open(self, plan: StreamPlan, noise: Noise) -> StreamSecrets:
        """The state before the first period: nothing is drawn in advance."""
        empty = list(self.strategy(plan).empty.values)
        series = plan.request.series
        return StreamSecrets(
            0, {"truth": [empty] * series, "guess": [empty] * series, "estimate": [0] * series}
        )

    def advance(
        self, plan: StreamPlan, state: StreamSecrets, increments: np.ndarray, noise: Noise
    ) -> tuple[np.ndarray, StreamSecrets]:
        """Answer with noise, take the answer apart, publish the running sum of what comes out, to the nearest row."""
        check_increments(plan.request, state, increments)
        strategy = self.strategy(plan)
        draws = noise.draw(plan.noise, plan.request.series).tolist()
        columns = (state.numbers["truth"], state.numbers["guess"], increments.tolist(), draws)
        truths, guesses, estimates = [], [], []
        for truth, guess, increment, own in zip(*columns, strict=True):
            remembered = strategy.remembering(truth)
            answer = strategy.head * increment + remembered.answer(strategy.head) + own
            truths.append(list(remembered.after(increment << BUFFER_BITS).values))
            # From here on only the noisy answer is used.
            estimated = strategy.remembering(guess)
            estimate = (answer - estimated.answer(strategy.head) << BUFFER_BITS) // strategy.head
            guesses.append(list(estimated.after(estimate).values))
            estimates.append(estimate)
        totals = [total + e for total, e in zip(state.numbers["estimate"], estimates, strict=True)]
        published = np.array([_nearest(total) for total in totals], dtype=np.int64)
        return published, StreamSecrets(
            state.period + 1, {"truth": truths, "guess": guesses, "estimate": totals}
        )


def _nearest(total: int) -> int:
    """Multiples of 2^-BUFFER_BITS to the nearest whole rows."""
    return (total + (1 << BUFFER_BITS - 1)) >> BUFFER_BITS
