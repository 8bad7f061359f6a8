"""The Celery application. A message carries a kind of job and an id, nothing else; the database is the truth."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dpportal.settings")
# Before numpy loads: the portal's matrices are small, and threads that wait for each other made plans 100 times slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

app = Celery("dpportal", task_cls="dpportal.jobs.task_base:HintTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
