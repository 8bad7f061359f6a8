"""What the catalogue keeps: how often publications were read, and for a while what checks of downloads found."""

from __future__ import annotations

from uuid import uuid4

from django.db import models
from django.db.models.functions import Now

from dpportal.jobs.claims import Job


class Readership(models.Model):
    """How often a publication's page or files were asked for: a number, of nobody in particular.

    publication: the id of a release or a running count. Written by `readers` only.
    """

    publication = models.UUIDField(primary_key=True)
    times = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"Readership of {self.publication}"


class BundleCheck(Job):
    """A download that somebody has checked. Written by `bundle_checks` only, and deleted soon.

    file: where it waits. network: from where it came, for limits. findings: each with `what`, `state` and `details`,
    see `mechanisms.verify.finding`; the names in them are the file's own. publication: the release or running count
    whose files these are, if this portal signed them, and release_sha256: which of its files. seal: a keyed digest of
    what was found, or why nothing was: whoever has the database alone cannot have the portal say something else.
    """

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    file = models.CharField(max_length=100)
    network = models.CharField(max_length=45, blank=True)
    asked_at = models.DateTimeField(db_default=Now())
    findings = models.JSONField(null=True)
    publication = models.UUIDField(null=True)
    release_sha256 = models.CharField(max_length=64, blank=True)
    seal = models.CharField(max_length=64, blank=True)

    def __str__(self) -> str:
        return f"Check {self.pk}"

    @property
    def holds(self) -> bool:
        """Whether it was checked and nothing failed."""
        return self.is_done and all(each["state"] != "FAILED" for each in self.findings or [])
