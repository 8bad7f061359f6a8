"""Whether the queue can be reached: asked with a short patience, and not at every request."""

from __future__ import annotations

import os

from celery import current_app
from django.conf import settings
from django.core.cache import cache
from kombu.exceptions import OperationalError

ANSWER_SECONDS = 2.0
ASKED_EVERY_SECONDS = 10
# A second try follows at once; by itself it would wait for two seconds.
TWICE = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
REACHABLE = "running.broker"


def is_reachable() -> bool:
    """As it was found at most ASKED_EVERY_SECONDS ago by this process."""
    known: bool | None = cache.get(REACHABLE)
    if known is None:
        known = _answers()
        cache.set(REACHABLE, known, ASKED_EVERY_SECONDS)
    return known


def _answers() -> bool:
    if settings.EMBEDDED:
        return os.access(settings.BROKER_DIR, os.R_OK | os.W_OK | os.X_OK)
    patience = {"socket_connect_timeout": ANSWER_SECONDS, "socket_timeout": ANSWER_SECONDS, **TWICE}
    options = {**settings.CELERY_BROKER_TRANSPORT_OPTIONS, **patience}
    queue = current_app.connection_for_write(url=settings.CELERY_BROKER_URL)
    # A pool of its own: Celery's is for messages, and has other patience.
    queue = queue.clone(connect_timeout=ANSWER_SECONDS, transport_options=options)
    try:
        # Redis is first spoken to by a channel, RabbitMQ by the connection.
        queue.default_channel  # noqa: B018
    except (OSError, OperationalError, *queue.connection_errors, *queue.channel_errors):
        return False
    finally:
        queue.release()
    return True
