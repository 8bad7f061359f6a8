"""What the wizard's second step asks for, whatever the product."""

from __future__ import annotations

from django import forms
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _, gettext_lazy

from dpportal.charts.counted_word import counted_word
from dpportal.platform.json_types import Json
from dpportal.releases.models import Release
from mechanisms.domain import Domain


class DraftError(Exception):
    """Something a draft still lacks; the message says what to do, `step` where."""

    def __init__(self, message: str, step: str) -> None:
        super().__init__(message)
        self.message = message
        self.step = step


class AwaitedError(DraftError):
    """A plan that is being worked out; asked for again in some seconds, it is there."""


def _each_once(chosen: object) -> None:
    """A page has a box for each column; a program may name one twice."""
    if isinstance(chosen, list) and len(set(chosen)) < len(chosen):
        raise ValidationError(gettext_lazy("A column appears twice here. Choose each once."))


class ChoiceForm(forms.Form):
    """What exactly to release. A subclass has a field `columns`, and knows its product's other questions."""

    # What is missing is said on the page, beside the field, and by no bubble that is gone in a moment.
    use_required_attribute = False

    def __init__(
        self,
        data: QueryDict | None = None,
        files: MultiValueDict[str, UploadedFile[bytes]] | None = None,
        *,
        declared: Domain,
        draft: Release,
    ) -> None:
        super().__init__(data, files, initial=self.chosen(draft))
        self.declared = declared
        self.offer_columns("columns")
        if "people" in self.fields:
            label = _("Your estimate of the number of %(counted)s")
            self.fields["people"].label = label % {"counted": counted_word(draft.unit.max_rows)}
        self.adapt(draft)

    def offer_columns(self, field: str, *others: tuple[str, str]) -> None:
        """Let a field choose among the declared columns. others: choices before these."""
        choice = self.fields[field]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [*others, *self.named.items()]
        choice.validators.append(_each_once)

    @property
    def named(self) -> dict[str, str]:
        """What readers call each declared column, by its own name."""
        return dict(zip(self.declared.names, self.declared.for_readers.names, strict=True))

    def adapt(self, draft: Release) -> None:
        """Fit the other fields to the declared columns, and to the draft."""

    def chosen(self, draft: Release) -> Json:
        """What the draft says already."""
        return {**draft.parameters, "columns": draft.columns, "people": draft.people}

    def apply(self, draft: Release) -> None:
        """Write the valid choice into the draft."""
        raise TypeError("a product's form says how its choice is kept")
