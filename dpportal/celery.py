"""The Celery application. Tasks carry an id and nothing else; the database is the truth."""

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dpportal.settings")

READY_FILE = "worker.ready"

app = Celery("dpportal")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def say_ready(**_: Any) -> None:
    """Tell the supervisor that the worker listens to its queue."""
    from django.conf import settings

    (settings.DATA_DIR / READY_FILE).touch()
