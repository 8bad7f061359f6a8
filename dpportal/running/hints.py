"""Celery tasks as the portal uses them: hints at rows of the database."""

from __future__ import annotations

from typing import Any

from celery.contrib.django.task import DjangoTask
from django.conf import settings
from django.db import transaction

from dpportal.running.limits import limited


class HintTask(DjangoTask):
    """A task whose message is a hint: when the queue is down, what was committed stands and the sweep hints again."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with limited(settings.TASK_SECONDS, settings.TASK_KILLED_AFTER_SECONDS):
            return super().__call__(*args, **kwargs)

    def delay_on_commit(self, *args: Any, **kwargs: Any) -> None:
        def hint() -> None:
            self.delay(*args, **kwargs)

        transaction.on_commit(hint, robust=True)
