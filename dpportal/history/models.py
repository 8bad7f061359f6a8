"""The links of the chain, the lines of what things were, and from where on lines hold which parts."""

from __future__ import annotations

from django.db import models


class Link(models.Model):
    """What was written, by its digest, and the digest of all that was written before. Written by `chain` only.

    event: what kind of writing, see `chain.ChainedRows`. line: the id of the row that was written. content: SHA-256 of
    what the row says. seal: a keyed digest of the content; none before there were seals. position: from 1, and digest:
    SHA-256 of the previous link's digest and this content. PostgreSQL sets both when the transaction commits.
    """

    event = models.CharField(max_length=20)
    line = models.BigIntegerField()
    content = models.CharField(max_length=64)
    seal = models.CharField(max_length=64, blank=True)
    position = models.BigIntegerField(null=True, unique=True)
    digest = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["event", "line"], name="one_link_per_event")]

    def __str__(self) -> str:
        return f"{self.position}: {self.event} {self.line}"


class Imprint(models.Model):
    """What a thing was when the portal last wrote it. Written by `imprints` only.

    kind, subject: which thing. digests: of each part by its name, keyed; none of what was deleted.
    """

    kind = models.CharField(max_length=40)
    subject = models.CharField(max_length=80)
    digests = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["kind", "subject"], name="imprint_of_a_thing")]

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class Era(models.Model):
    """From the link of this row on, lines hold these parts. Written by `eras` only.

    lines: by event the number of the form that rows are linked in. things: by kind of imprint the names of its parts.
    bound: by event the digest of what earlier lines in an earlier form say in this one. sealed: whether links have
    seals.
    """

    at = models.DateTimeField(auto_now_add=True)
    lines = models.JSONField(default=dict)
    things = models.JSONField(default=dict)
    bound = models.JSONField(default=dict)
    sealed = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"era {self.pk}"
