"""The moments of a job at which a worker is killed or stopped, in their order."""

from __future__ import annotations

from dataclasses import dataclass

BEFORE_CLAIM = "before the claim"
AFTER_CLAIM = "after the claim"
ENTITLED = "when it may count"
COUNTING = "while counting"
COUNTED = "when the counts are known"
BEFORE_COMMIT = "before the measurement commits"
AFTER_COMMIT = "after the measurement commits"
BUNDLING = "while bundling"
PUBLISHED = "after the result is published"


@dataclass(frozen=True)
class Left:
    """What a worker killed at a point leaves, and how many attempts there were when all is done."""

    job: str
    charge: str
    measured: bool
    attempts: int


KILLED_AT = {
    BEFORE_CLAIM: Left("queued", "reserved", measured=False, attempts=1),
    AFTER_CLAIM: Left("running", "reserved", measured=False, attempts=2),
    COUNTING: Left("running", "reserved", measured=False, attempts=2),
    BEFORE_COMMIT: Left("running", "reserved", measured=False, attempts=2),
    AFTER_COMMIT: Left("running", "spent", measured=True, attempts=2),
    BUNDLING: Left("running", "spent", measured=True, attempts=2),
    PUBLISHED: Left("done", "spent", measured=True, attempts=1),
}
