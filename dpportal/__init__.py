"""The web portal: Django rooms around the `mechanisms` package."""

from dpportal.celery import app as celery_app

__all__ = ["celery_app"]
