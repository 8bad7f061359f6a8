"""The base of the portal's Celery tasks: a message names a row of the database."""

from __future__ import annotations

from functools import partial
from typing import Any

from celery.contrib.django.task import DjangoTask
from django.conf import settings
from django.db import transaction

from dpportal.jobs.time_limits import limited
from dpportal.platform import bulkhead


class HintTask(DjangoTask):
    """A task whose message may be lost: when the queue is down or hangs, the committed row stands, and the sweep sends
    another message."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with limited(settings.TASK_SECONDS, settings.TASK_KILLED_AFTER_SECONDS):
            return super().__call__(*args, **kwargs)

    def delay_on_commit(self, *args: Any, **kwargs: Any) -> None:
        def hint() -> None:
            bulkhead.QUEUE.call(partial(self.delay, *args, **kwargs))

        transaction.on_commit(hint, robust=True)
