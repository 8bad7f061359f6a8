"""Whether the queue can be reached: a check with a short time limit, cached for some seconds."""

from __future__ import annotations

import os

from celery import current_app
from django.conf import settings
from django.core.cache import cache
from kombu.exceptions import OperationalError

ANSWER_SECONDS = 2.0
CHECK_EVERY_SECONDS = 10
# A second try follows at once; by itself it would wait for two seconds.
TWICE = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
REACHABLE = "running.broker"


def is_reachable() -> bool:
    """Whether the queue answered this process at most CHECK_EVERY_SECONDS ago."""
    known: bool | None = cache.get(REACHABLE)
    if known is None:
        known = _answers()
        cache.set(REACHABLE, known, CHECK_EVERY_SECONDS)
    return known


def _answers() -> bool:
    if settings.EMBEDDED:
        return os.access(settings.BROKER_DIR, os.R_OK | os.W_OK | os.X_OK)
    patience = {"socket_connect_timeout": ANSWER_SECONDS, "socket_timeout": ANSWER_SECONDS, **TWICE}
    options = {**settings.CELERY_BROKER_TRANSPORT_OPTIONS, **patience}
    queue = current_app.connection_for_write(url=settings.CELERY_BROKER_URL)
    # A pool of its own: Celery's is for messages, and has other time limits.
    queue = queue.clone(connect_timeout=ANSWER_SECONDS, transport_options=options)
    try:
        # A connection reaches RabbitMQ; only a channel reaches Redis.
        queue.default_channel  # noqa: B018
    except (OSError, OperationalError, *queue.connection_errors, *queue.channel_errors):
        return False
    finally:
        queue.release()
    return True
