"""Streams that grow while workers are stopped or killed, and what must hold of them afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from tests.dpportal.crashes.stage import Stage

HORIZON, AT_ONCE, MOST_OPEN = 40, 3, 2
UNFINISHED = "SELECT id, stream_id FROM streams_streamjob WHERE state IN ('queued', 'running')"
PERIODS = 'SELECT stream_id, "index", released, half_width FROM streams_period'


@dataclass
class Currents:
    """Two running counts at a time, each sent a longer and longer file of periods until its horizon.

    seen: every period that anyone could read, as it was read first. charged: how many were opened.
    """

    stage: Stage
    amount: str
    streams: list[UUID] = field(default_factory=list)
    seen: dict[tuple[str, int], Any] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    charged: int = 0

    def go_on(self, timed: Callable[..., Any]) -> None:
        """Read what is published, and send what comes next wherever no job is under way."""
        self.look()
        busy = {str(UUID(str(row[1]))) for row in self.stage.world.rows(UNFINISHED)}
        growing = 0
        for stream in self.streams:
            state, periods = self._state(stream)
            growing += state in ("opening", "open")
            if state == "open" and str(stream) not in busy:
                timed("send_periods", str(stream), min(periods + AT_ONCE, HORIZON))
        for _ in range(MOST_OPEN - growing):
            self.streams.append(UUID(timed("ask_for_stream", self.amount, HORIZON)))

    def look(self) -> None:
        """Note what is published, and every period that says something else than it did."""
        for stream, index, *told in self.stage.world.rows(PERIODS):
            key = (str(UUID(str(stream))), index)
            if self.seen.setdefault(key, told) != told:
                self.changed.append(f"{key}: {self.seen[key]} became {told}")

    def unfinished(self) -> list[UUID]:
        return [UUID(str(row[0])) for row in self.stage.world.rows(UNFINISHED)]

    def amiss(self) -> list[str]:
        """What should not be. Counts in `charged` the streams that were paid for."""
        self.look()
        return [*self.changed, *(fault for stream in self.streams for fault in self._faults(stream))]

    def _faults(self, stream: UUID) -> list[str]:
        told = self.stage.ask("see_stream", str(stream))
        if (told["state"], told["charge"], told["attempts"]) == ("failed", "void", 3):
            return []
        self.charged += 1
        number = len(told["periods"])
        wanted = {
            "state": "closed" if number == HORIZON else "open",
            "charge": "spent",
            "periods": list(range(1, number + 1)),
            "sums": [sum(range(1, index + 1)) for index in range(1, number + 1)],
        }
        if number < HORIZON:
            wanted["secret"] = number
        return [
            f"{stream}: {name} is {told[name]}, not {value}"
            for name, value in wanted.items()
            if told[name] != value
        ]

    def _state(self, stream: UUID) -> tuple[str, int]:
        [row] = self.stage.world.rows("SELECT state FROM streams_stream WHERE id = %s", stream)
        [count] = self.stage.world.rows("SELECT count(*) FROM streams_period WHERE stream_id = %s", stream)
        return row[0], count[0]
