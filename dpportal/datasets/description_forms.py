"""The forms in which a curator names a dataset, and describes it to everyone."""

from __future__ import annotations

import re

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator, validate_email
from django.utils.dateparse import parse_date
from django.utils.translation import gettext_lazy as _

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset, PublicDescription
from dpportal.platform.form_types import CleanedData
from dpportal.platform.visible_text import VisibleTexts
from dpportal.publications.licences import LICENCES

MAX_KEYWORDS = 20
LONGEST_KEYWORD = 60
_FULL = {4: "-01-01", 7: "-01"}
_web_address = URLValidator(schemes=["https", "http"])


class RenameForm(VisibleTexts, forms.ModelForm[Dataset]):
    """The name and the curator's own description of a dataset."""

    class Meta:
        model = Dataset
        fields = ["name", "description"]
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}

    def keep(self, by: User) -> None:
        """Save it after `is_valid()`; it is on record that it was done, not what stood there."""
        if _is_as_stored(self.instance, self.Meta.fields):
            return
        has_name = _is_as_stored(self.instance, ["name"])
        self.save()
        audit.record(by, "described" if has_name else "renamed", self.instance)


def _is_as_stored(row: Dataset | PublicDescription, fields: list[str]) -> bool:
    """Whether saving it would change nothing, as where a program is run again."""
    stored = type(row)._base_manager.filter(pk=row.pk).values(*fields).first()
    return bool(stored == {name: getattr(row, name) for name in fields})


def description_of(dataset: Dataset) -> PublicDescription:
    """What is written of a dataset for everyone; an empty one, not saved, where nothing is."""
    written = PublicDescription.objects.filter(dataset=dataset).first()
    return written or PublicDescription(dataset=dataset)


class KeywordsField(forms.CharField):
    """Words between commas, each once, as a list."""

    def prepare_value(self, value: object) -> object:
        return ", ".join(value) if isinstance(value, list) else value

    def clean(self, value: object) -> list[str]:
        words = [" ".join(word.split()) for word in re.split("[,，]", super().clean(value))]
        keywords = list(dict.fromkeys(filter(None, words)))
        if len(keywords) > MAX_KEYWORDS or any(len(word) > LONGEST_KEYWORD for word in keywords):
            raise ValidationError(_("Write at most 20 keywords of at most 60 characters."))
        return keywords


def _moment(text: str) -> str:
    """A year, month or day. Raises ValidationError."""
    text = text.strip()
    if not text:
        return ""
    try:
        real = re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", text) and parse_date(text + _FULL.get(len(text), ""))
    except ValueError:
        real = None
    if not real:
        raise ValidationError(_("Write a year, a month or a day, such as 2011, 2011-03 or 2011-03-27."))
    return text


class DescriptionForm(VisibleTexts, forms.ModelForm[PublicDescription]):
    """The public description of a dataset: every field is optional, and nothing is shown without the tick."""

    keywords = KeywordsField(
        label=_("keywords"), required=False, help_text=_("Between commas, such as: census, income, age.")
    )
    licence = forms.ChoiceField(
        label=_("licence"),
        required=False,
        help_text=_("What readers may do with the downloads, by its SPDX identifier."),
        choices=[
            ("", _("None said")),
            *((name, f"{name}: {licence.name}") for name, licence in LICENCES.items()),
        ],
    )

    class Meta:
        model = PublicDescription
        fields = [
            "text",
            "keywords",
            "place",
            "first",
            "last",
            "publisher",
            "contact",
            "licence",
            "shown",
        ]
        widgets = {"text": forms.Textarea(attrs={"rows": 5})}
        help_texts = {
            "text": _("Who is counted, when and how the data were collected. Public knowledge only."),
            "place": _("Such as: Fulton County, Georgia."),
            "first": _("Such as 2011 or 2011-03."),
            "last": _("Empty if it is one moment."),
            "publisher": _("The office or institute that answers for the data."),
            "contact": _("A mail address, or the address of a page."),
            "shown": _(
                "Until this is ticked nobody else sees any of it. It concerns what was published before, too."
            ),
        }

    def keep(self, by: User) -> None:
        """Save it after `is_valid()`; whether it is for everyone is on record."""
        if _is_as_stored(self.instance, self.Meta.fields):
            return
        self.save()
        is_shown = self.cleaned_data["shown"]
        audit.record(by, "described for everyone" if is_shown else "described", self.instance.dataset)

    def clean_first(self) -> str:
        return _moment(self.cleaned_data["first"])

    def clean_last(self) -> str:
        return _moment(self.cleaned_data["last"])

    def clean_contact(self) -> str:
        contact: str = self.cleaned_data["contact"].strip()
        check = _web_address if "/" in contact else validate_email
        try:
            if contact:
                check(contact)
        except ValidationError:
            raise ValidationError(
                _("Write a mail address, or an address that begins with https://.")
            ) from None
        return contact

    def clean(self) -> CleanedData:
        data = super().clean() or {}
        first, last = data.get("first"), data.get("last")
        if last and not first:
            self.add_error("first", _("Say when it begins, too."))
        # Compared by the digits that both have, so that a year may follow one of its months.
        elif first and last and last < first[: len(last)]:
            self.add_error("last", _("It ends before it begins."))
        return data
