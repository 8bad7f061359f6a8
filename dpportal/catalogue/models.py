"""What the catalogue keeps of publications: a small picture, and how often they were read."""

from __future__ import annotations

from django.db import models

from dpportal.running.jobs import Job


class Thumbnail(Job):
    """A small picture of what is published, drawn by a worker from that alone.

    key: the digest of the question, which names the publication and, of a running count, how many periods are drawn.
    marks: the shapes, see `charts.thumbnail`. about: what it shows, in words.
    """

    key = models.CharField(primary_key=True, max_length=64)
    question = models.JSONField()
    marks = models.JSONField(default=list)
    about = models.CharField(max_length=300, blank=True)

    def __str__(self) -> str:
        return f"Thumbnail {self.key[:12]}"


class Readership(models.Model):
    """How often a publication's page or files were asked for: a number, of nobody in particular.

    publication: the id of a release or a running count. Written by `readers` only.
    """

    publication = models.UUIDField(primary_key=True)
    times = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"Readership of {self.publication}"
