"""How far a conversion has come, in rows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TextIO

# rows read so far, and rows expected if known; exact or (CSV) estimated from the bytes read.
Report = Callable[[int, int | None], None]
INTERVAL_SECONDS = 0.2


class LineReport:
    """Writes reports as JSON lines, not more often than the interval."""

    def __init__(self, output: TextIO) -> None:
        self._output = output
        self._next = 0.0

    def __call__(self, rows: int, expected: int | None) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + INTERVAL_SECONDS
        self._output.write(json.dumps({"rows": rows, "expected": expected}) + "\n")
        self._output.flush()
