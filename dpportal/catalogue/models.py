"""What the catalogue keeps of publications: how often they were read."""

from __future__ import annotations

from django.db import models


class Readership(models.Model):
    """How often a publication's page or files were asked for: a number, of nobody in particular.

    publication: the id of a release or a running count. Written by `readers` only.
    """

    publication = models.UUIDField(primary_key=True)
    times = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"Readership of {self.publication}"
