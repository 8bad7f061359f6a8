"""The base of the portal's Celery tasks: a message names a row of the database."""

from __future__ import annotations

from functools import partial

from celery.contrib.django.task import DjangoTask
from django.conf import settings
from django.db import transaction

from dpportal.jobs.time_limits import limited
from dpportal.platform import bulkhead


class HintTask(DjangoTask):  # type: ignore[misc]
    """A task whose message may be lost: when the queue is down or hangs, the committed row stands, and the sweep sends
    another message."""

    def __call__(self, *args: object, **kwargs: object) -> object:
        with limited(settings.TASK_SECONDS, settings.TASK_KILLED_AFTER_SECONDS):
            return super().__call__(*args, **kwargs)

    def apply_async(self, *args: object, **kwargs: object) -> object:
        """Send the message, however it is asked for; a queue that hangs holds up few of the web's threads."""
        return bulkhead.QUEUE.call(partial(super().apply_async, *args, **kwargs))

    def delay_on_commit(self, *args: object, **kwargs: object) -> None:
        def hint() -> None:  # Django's log of one that fails needs its name, which a partial has not
            self.delay(*args, **kwargs)

        transaction.on_commit(hint, robust=True)
