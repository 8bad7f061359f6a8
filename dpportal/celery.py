"""The Celery application. A message carries a kind of job and an id, nothing else; the database is the truth."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dpportal.settings")

app = Celery("dpportal", task_cls="dpportal.jobs.task_base:HintTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
