"""The verbs of a mechanism for a running count, and the values that pass between them.

plan (no data) -> open (draws what is secret for ever) -> advance, once a period (the only step that sees data).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from mechanisms.accounting import Definition, Loss
from mechanisms.json_types import JsonObject
from mechanisms.noise import Noise, NoiseLaw, law_from_json
from mechanisms.sensitivity import Sensitivity


@dataclass(frozen=True)
class StreamRequest:
    """What is to be published, period after period.

    horizon: the number N of periods, or None for a stream without an end.
    series: the number k of running counts that are published side by side; a row adds to one of them.
    largest: the most that one row can add: 1 for a count, the upper bound of the summed column for a sum.
    """

    horizon: int | None
    series: int = 1
    largest: int = 1


@dataclass(frozen=True)
class StreamPlan:
    """All that a stream will do, decided without data.

    sensitivity: how far one person moves the strategy's integer answers, over all periods and series together.
    noise: of every strategy answer. mean_squared_error: expected, of one published running count, averaged over
    the horizon (for an unbounded stream: over the first `details["periods_shown"]` periods), in rows².
    """

    mechanism: str
    request: StreamRequest
    loss: Loss
    sensitivity: Sensitivity
    noise: NoiseLaw
    mean_squared_error: float
    explanation: str
    details: JsonObject = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        request = self.request
        return {
            "mechanism": self.mechanism,
            "request": {
                "horizon": request.horizon,
                "series": request.series,
                "largest": request.largest,
            },
            "loss": self.loss.to_json(),
            "sensitivity": {"l1": self.sensitivity.l1, "l2_squared": self.sensitivity.l2_squared},
            "noise": self.noise.to_json(),
            "mean_squared_error": self.mean_squared_error,
            "explanation": self.explanation,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> StreamPlan:
        read = {
            "request": StreamRequest(**value["request"]),
            "loss": Loss.from_json(value["loss"]),
            "sensitivity": Sensitivity(**value["sensitivity"]),
            "noise": law_from_json(value["noise"]),
        }
        return cls(**{**value, **read})


# Of a state's numbers those that are made of true counts, each with how many characters it takes, or a multiple.
TRUE_NUMBERS = {"sums": 20, "truth": 64}


@dataclass(frozen=True)
class StreamSecrets:
    """What a stream must remember between two periods: true sums and noise, so all of it is secret.

    period: the number of periods published so far. numbers: named exact integers, nested in lists where needed,
    as the mechanism keeps them. It is stored encrypted, and changes in the transaction that publishes a period.
    """

    period: int
    numbers: JsonObject = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """JSON, filled up with blanks to a length that no true count changes: what is sealed shows its length."""
        text = json.dumps({"period": self.period, "numbers": dict(self.numbers)})
        blanks = sum(filling(self.numbers.get(name, []), room) for name, room in TRUE_NUMBERS.items())
        return (text + " " * blanks).encode()

    @classmethod
    def from_bytes(cls, value: bytes) -> StreamSecrets:
        return cls(**json.loads(value))

    def __repr__(self) -> str:
        # A state holds true counts and noise, and must not reach a log or a traceback.
        return f"State(period={self.period}, …)"


def filling(numbers: Iterable[Any], room: int) -> int:
    """How many characters whole numbers, perhaps in lists, lack to the room that each is given, or a multiple of it."""
    return sum(filling(n, room) if isinstance(n, list) else -len(str(n)) % room for n in numbers)


class StreamMechanism(Protocol):
    """One way to publish running counts; `name` is its key in the registry and in every `release.json`."""

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    definitions: ClassVar[frozenset[Definition]]
    # Whether it is shown only for comparison, and never suggested.
    reference: ClassVar[bool]
    # Whether a zCDP loss is proved in whole Rényi orders alone, against people who act on what was published.
    whole_orders: ClassVar[bool]

    def plan(self, request: StreamRequest, loss: Loss) -> StreamPlan:
        """Decide everything without data. Raises PlanError if the loss, the horizon or a bound does not fit."""

    def variances(self, plan: StreamPlan, periods: np.ndarray) -> np.ndarray:
        """The exact variance of a published running count after each of the periods (1-based), in rows²."""

    def half_widths(self, plan: StreamPlan, periods: np.ndarray, counts: int = 1) -> np.ndarray:
        """Whole numbers h so that published ± h holds the true running count with probability >= 0.95.

        counts: of how many running counts, which share no noise, the sum is taken.
        """

    def increment_variances(self, plan: StreamPlan, periods: np.ndarray) -> np.ndarray:
        """The exact variance of what each of the periods adds to the published running count, in rows²."""

    def increment_half_widths(self, plan: StreamPlan, periods: np.ndarray, counts: int = 1) -> np.ndarray:
        """Whole numbers h so that what a period adds to the published count ± h holds its true increment, likewise."""

    def open(self, plan: StreamPlan, noise: Noise) -> StreamSecrets:
        """The state before the first period, with whatever noise is drawn in advance."""

    def advance(
        self, plan: StreamPlan, state: StreamSecrets, increments: np.ndarray, noise: Noise
    ) -> tuple[np.ndarray, StreamSecrets]:
        """Publish the next period.

        increments: (k,) int64 >= 0, what the period adds to each series. Returns the released running counts, (k,)
        int64, and the next state. Noise that a state already holds is never drawn again: whoever calls stores the
        state and the release in one transaction, so that what was seen and what was drawn stay one.
        Raises ValueError if the shape, the type or the sign does not fit or the horizon is reached.
        """
