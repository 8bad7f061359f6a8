"""How many processor cores a job uses."""

from __future__ import annotations

import os

# Each takes memory.
MOST_UNASKED = 4
VARIABLE = "DPPORTAL_THREADS"


def of_machine() -> int:
    """As many as this process may use, up to a small number."""
    return min(MOST_UNASKED, len(os.sched_getaffinity(0)))


def used() -> int:
    """The site's setting, else those of the machine."""
    return int(os.environ.get(VARIABLE) or of_machine())
