"""Forms of a finished release."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from dpportal.platform.visible_text import VisibleTexts
from dpportal.releases.models import LONGEST_TITLE


class TitleForm(VisibleTexts, forms.Form):
    """What a release is called on its public page."""

    title = forms.CharField(
        label=_("Title"),
        max_length=LONGEST_TITLE,
        error_messages={
            "required": _("Write a title."),
            "max_length": _("Write a title of at most 160 characters."),
        },
    )
