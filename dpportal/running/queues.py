"""The queues of the portal: which jobs wait in which, so that what takes long keeps nothing else waiting."""

from __future__ import annotations

from kombu import Exchange, Queue

# What Celery calls the queue of every task that is not sent to another.
WORK = "celery"
# Uploads that are read, and simulations: they take minutes, and nobody knows how many before.
CONVERSIONS = "conversions"
NAMES = (WORK, CONVERSIONS)


def declared() -> list[Queue]:
    """All queues; a worker that is not told which to listen to listens to these."""
    return [Queue(name, Exchange(name), routing_key=name) for name in NAMES]
