"""Uploads that a program sends piece by piece, and what came of them so far."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models

from dpportal.platform.sealed import SealedField


class BegunUpload(models.Model):
    """A file that was announced, and that comes in pieces. The dataset will have its id.

    size: of the whole, in bytes; offset: how much has come. Sealed, since exact sizes tell of rows. sha256: of the
    whole, if it was announced. finished: whether it is a dataset now. Written by `resumable_upload` only.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=120, blank=True)
    description = models.TextField(blank=True)
    file_name = models.CharField(max_length=255)
    size = SealedField(null=True)
    offset = SealedField(default=int)
    sha256 = SealedField(null=True)
    megabytes = models.PositiveIntegerField()
    options = models.JSONField(default=dict)
    finished = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"upload of {self.pk}"


class UploadPiece(models.Model):
    """A piece of an upload. stored: its file, sealed with the key of the dataset that will be."""

    upload = models.ForeignKey(BegunUpload, on_delete=models.CASCADE, related_name="pieces")
    number = models.PositiveIntegerField()
    stored = models.CharField(max_length=200)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["upload", "number"], name="one_piece_of_a_number")]

    def __str__(self) -> str:
        return f"piece {self.number} of {self.upload_id}"
