"""The Celery application. Tasks carry an id and nothing else; the database is the truth."""

import os
from typing import Any

from celery import Celery
from celery.contrib.django.task import DjangoTask
from celery.signals import worker_ready
from django.db import transaction

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dpportal.settings")
# Before numpy loads: the portal's matrices are small, and threads that wait for each other made plans 100 times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

READY_FILE = "worker.ready"


class HintTask(DjangoTask):
    """A task whose message is a hint: when the queue is down, what was committed stands and the sweep hints again."""

    def delay_on_commit(self, *args: Any, **kwargs: Any) -> None:
        def hint() -> None:
            self.delay(*args, **kwargs)

        transaction.on_commit(hint, robust=True)


app = Celery("dpportal", task_cls=HintTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def say_ready(**_: Any) -> None:
    """Tell the supervisor that the worker listens to its queue."""
    from django.conf import settings

    (settings.DATA_DIR / READY_FILE).touch()
