"""Forms of a finished release."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.publishing.verdict import Verdict
from dpportal.releases.models import LONGEST_TITLE, Release

_BEFORE_A_DOI = re.compile(r"^(https?://(dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
# By the handbook of the DOI system; no mark that could end an address or a field.
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>{}]+")


class TitleForm(forms.Form):
    """What a release is called on its public page."""

    title = forms.CharField(
        label=_("Title"),
        max_length=LONGEST_TITLE,
        error_messages={
            "required": _("Write a title."),
            "max_length": _("Write a title of at most 160 characters."),
        },
    )


class DetailsForm(forms.Form):
    """Where a release stands among others: its DOI, and which older one it is read instead of."""

    doi = forms.CharField(
        label=_("DOI"),
        required=False,
        max_length=200,
        help_text=_("If an archive gave it one, such as 10.5281/zenodo.1234."),
    )
    supersedes = forms.ModelChoiceField(
        label=_("Replaces"),
        queryset=Release.objects.none(),
        required=False,
        empty_label=_("No earlier release"),
        help_text=_("Both pages then point to each other."),
    )

    def __init__(self, *args: Any, release: Release, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial = {"doi": release.doi, "supersedes": release.supersedes_id}
        field = self.fields["supersedes"]
        assert isinstance(field, forms.ModelChoiceField)
        # Measured earlier, so that no two replace each other.
        field.queryset = Release.objects.filter(
            dataset__owner=release.dataset.owner_id,
            published_at__isnull=False,
            measured_at__lt=release.measured_at,
        ).order_by("-measured_at")

    def clean_doi(self) -> str:
        doi = _BEFORE_A_DOI.sub("", self.cleaned_data["doi"].strip())
        if doi and not _DOI.fullmatch(doi):
            raise forms.ValidationError(
                _("A DOI begins with 10. and has a slash, such as 10.5281/zenodo.1234.")
            )
        return doi


class WithdrawalForm(forms.Form):
    """Why a release is taken back."""

    because = forms.CharField(required=False, max_length=500)


class PublishForm(DetailsForm):
    """The last question, which is asked in as many words where the release is of little use."""

    def __init__(self, *args: Any, verdict: Verdict | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if verdict is not None and not verdict.is_useful:
            self.fields["all_the_same"] = forms.BooleanField(
                label=_("I have read this, and publish it all the same."),
                error_messages={"required": _("Tick the box to publish it all the same.")},
            )
