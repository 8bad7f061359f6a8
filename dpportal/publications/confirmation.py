"""The one question before budget is spent, and the proof that what is spent on is what was read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed


class ReviewedPlan(Protocol):
    """Anything that is planned before it is paid for."""

    def to_json(self) -> Json: ...


USELESS_ALL_THE_SAME = _("Change the plan, or confirm that you spend the budget all the same.")


class ConfirmForm(forms.Form):
    """The one question before the budget is spent; on a page, the button that names the cost says that it is agreed."""

    reviewed = forms.CharField(widget=forms.HiddenInput)
    agreed = forms.BooleanField(
        error_messages={"required": _("Confirm that the budget is spent for good.")},
    )

    def __init__(
        self,
        posted: QueryDict | None,
        shown: str = "",
        *,
        identifying: Sequence[str] = (),
        misfits: Sequence[str] = (),
        is_useless: bool = False,
    ) -> None:
        """posted: the answer that was sent. shown: the digest of what this page shows. The others ask more:

        identifying: columns that look as if they named people. misfits: columns of which most rows fit nothing.
        """
        super().__init__(posted or None, initial={"reviewed": shown})
        if is_useless:
            self.fields["useless"] = forms.BooleanField(
                label=_("Spend the budget all the same: the result is expected to be useless."),
                error_messages={"required": USELESS_ALL_THE_SAME},
            )
        if misfits:
            self.fields["nevertheless"] = forms.BooleanField(
                label=_("Publish nevertheless: most rows fit nothing declared in %(columns)s.")
                % {"columns": listed(misfits)},
                error_messages={
                    "required": _(
                        "Most rows would be left out or counted elsewhere. Change the declaration, or confirm that you "
                        "publish nevertheless."
                    )
                },
            )
        if identifying:
            self.fields["one_row"] = forms.BooleanField(
                label=_("Each person has one row, although %(columns)s looks like an identifier of people.")
                % {"columns": listed(identifying)},
                error_messages={
                    "required": _("Confirm this, or name the column on the page “Who is protected”.")
                },
            )

    @property
    def digest_read(self) -> str:
        """Of what the curator read, in a valid form."""
        return str(self.cleaned_data["reviewed"])

    @contextmanager
    def taking(self, *refusals: type[Exception]) -> Iterator[None]:
        """A refusal that is raised inside is shown under the question, and the form is valid no more."""
        try:
            yield
        except refusals as refusal:
            self.add_error(None, str(refusal))
            # What is confirmed next is what this page shows.
            self.data = {**self.data, "reviewed": self.initial["reviewed"]}

    @property
    def is_advised_against(self) -> bool:
        """Whether something else than spending is to be done first, and spending takes a tick of its own."""
        return "nevertheless" in self.fields or "useless" in self.fields


def require_writable(refusal: type[Exception], plan: ReviewedPlan, *declared: Json) -> None:
    """Raise the refusal if no file could hold a text of the plan or of what it rests on, before it is paid for.

    Half of a character has no UTF-8. Files of a download hold every other text.
    """
    try:
        json.dumps([plan.to_json(), *declared], ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        text = _(
            "A value, label or name in the declaration holds half of a character (a lone surrogate, \\ud800 to "
            "\\udfff), which no file can hold. Correct it on the dataset's page."
        )
        raise refusal(text) from None


def digest(plan: ReviewedPlan, *declared: Json) -> str:
    """A short name of a plan and of what it rests on, so that a confirmation is for exactly what was reviewed."""
    read = [plan.to_json(), *declared]
    return hashlib.sha256(json.dumps(read, sort_keys=True, default=str).encode()).hexdigest()[:32]
