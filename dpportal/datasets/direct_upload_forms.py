"""The form of a file that the browser sends to the storage itself."""

from __future__ import annotations

from django import forms
from django.conf import settings

from dpportal.datasets.forms import EMPTY, UploadForm
from dpportal.platform.form_types import CleanedData
from dpportal.serving.files import too_large


class DirectUploadForm(UploadForm):
    """A table that the browser sends to the storage itself: what it is called and how long it is."""

    file = None  # type: ignore[assignment]
    file_name = forms.CharField(max_length=255)
    size = forms.IntegerField(min_value=0)

    def clean_size(self) -> int:
        size: int = self.cleaned_data["size"]
        if not size:
            raise forms.ValidationError(EMPTY)
        if size > settings.MAX_UPLOAD_BYTES:
            raise forms.ValidationError(too_large(settings.MAX_UPLOAD_BYTES))
        return size

    def clean(self) -> CleanedData:
        data = super().clean() or {}
        if refused := self.errors.pop("size", None):
            self.errors["file"] = refused  # where the page shows it
        return data
