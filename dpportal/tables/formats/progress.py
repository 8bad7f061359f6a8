"""The progress of a conversion, in bytes of the upload."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TextIO

# The share of the work that is done, from 0 to 1.
Report = Callable[[float], None]
INTERVAL_SECONDS = 0.2


class LineReport:
    """Writes reports as JSON lines, not more often than the interval: of all bytes, how many are worked through."""

    def __init__(self, output: TextIO, total: int) -> None:
        self._output = output
        self._total = total
        self._next = 0.0

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + INTERVAL_SECONDS
        done = round(self._total * min(1.0, share))
        self._output.write(json.dumps({"done": done, "total": self._total}) + "\n")
        self._output.flush()


def part(report: Report, start: float, stop: float) -> Report:
    """Reports of a part of the work, scaled to the range between two shares of all work."""
    return lambda share: report(start + (stop - start) * min(1.0, share))
