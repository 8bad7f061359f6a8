"""How many processor cores a job uses."""

from __future__ import annotations

import os

# Each takes memory.
DEFAULT_MOST = 4
VARIABLE = "DPPORTAL_THREADS"


def of_machine() -> int:
    """As many as this process may use, up to a small number."""
    return min(DEFAULT_MOST, len(os.sched_getaffinity(0)))


def used() -> int:
    """The site's setting, else those of the machine."""
    return int(os.environ.get(VARIABLE) or of_machine())
