"""The pages from a draft to a spent budget: steps with addresses of their own, each of which saves what was chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.views.decorators.http import require_http_methods

from dpportal.accounts.permissions import curator_required
from dpportal.publishing.draft import Publication

UNPROCESSABLE = 422


D = TypeVar("D", bound=Publication)


@dataclass(frozen=True)
class Wizard(Generic[D]):
    """The steps of one kind of draft.

    space: the URL namespace and folder of templates, in which each step is a name. name: of the draft on its pages.
    steps: names with labels. own: the curator's own draft by its id, or 404. spent: the view of one that is
    confirmed, with the sentence that says so.
    """

    space: str
    name: str
    steps: Sequence[tuple[str, str | Promise]]
    own: Callable[[HttpRequest, UUID], D]
    spent: str
    already_spent: str | Promise

    def step(self, view: Callable[[HttpRequest, D], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        """A view of the curator's own draft; one that is confirmed leads to where it is now."""

        @curator_required
        @require_http_methods(["GET", "POST"])
        @wraps(view)
        def page(request: HttpRequest, **ids: UUID) -> HttpResponseBase:
            draft = self.own(request, *ids.values())
            return view(request, draft) if draft.is_draft else self._already_spent(request, draft)

        return page

    def forward(self, request: HttpRequest, draft: D, chosen: Iterable[str], step: str) -> HttpResponseBase:
        """Save what was chosen, the fields of these names, and go on, unless another page confirmed it meanwhile."""
        if not draft.keep(chosen):
            return self._already_spent(request, draft)
        return redirect(f"{self.space}:{step}", draft.pk)

    def page(
        self, request: HttpRequest, step: str, draft: D, form: BaseForm | None, **context: Any
    ) -> HttpResponse:
        """The page of a step; a form in which something has to be corrected says so in the status, too."""
        shared = {
            self.name: draft,
            "dataset": draft.dataset,
            "budget": draft.account,
            "form": form,
            "steps": self._numbered(step, draft.pk),
            "step_label": dict(self.steps)[step],
            "nav_section": self.space,
        }
        wrong = form is not None and form.is_bound and form.errors
        status = UNPROCESSABLE if wrong else 200
        return render(request, f"{self.space}/{step}.html", {**shared, **context}, status=status)

    def _numbered(self, step: str, pk: UUID) -> list[dict[str, Any]]:
        """The steps with their state; those that are done have an address to go back to."""
        here = [name for name, _label in self.steps].index(step)
        return [
            {
                "label": label,
                "state": "current" if i == here else "done" if i < here else "todo",
                "url": reverse(f"{self.space}:{name}", args=[pk]) if i < here else "",
            }
            for i, (name, label) in enumerate(self.steps)
        ]

    def _already_spent(self, request: HttpRequest, draft: D) -> HttpResponseBase:
        messages.info(request, str(self.already_spent))
        return redirect(f"{self.space}:{self.spent}", draft.pk)
