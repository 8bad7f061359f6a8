"""Forms of a finished release."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.publishing.verdict import Verdict
from dpportal.releases.models import LONGEST_TITLE


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


class PublishForm(forms.Form):
    """The last question, which is asked in as many words where the release is of little use."""

    def __init__(self, *args: Any, verdict: Verdict | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if verdict is not None and not verdict.is_useful:
            self.fields["all_the_same"] = forms.BooleanField(
                label=_("I have read this, and publish it all the same."),
                error_messages={"required": _("Tick the box to publish it all the same.")},
            )
