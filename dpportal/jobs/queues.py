"""The queues of the portal: long jobs have one of their own, so that no other job waits for them."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from kombu.entity import Exchange, Queue

# Celery's name for its default queue.
WORK = "celery"
# Uploads that are read, and simulations: they take minutes, and nobody knows how many before.
CONVERSIONS = "conversions"
# Downloads that anybody has checked. How long one waits would say when uploads are read, if both were in one queue.
CHECKS = "checks"
NAMES = (WORK, CONVERSIONS, CHECKS)
# What waits in each, for people.
TITLES = {
    WORK: _("all other jobs"),
    CONVERSIONS: _("files to read, simulations"),
    CHECKS: _("downloads to check"),
}


def declared() -> list[Queue]:
    """All queues; a worker without `-Q` listens to these."""
    return [Queue(name, Exchange(name), routing_key=name) for name in NAMES]  # type: ignore[no-untyped-call]
