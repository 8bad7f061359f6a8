"""The pages from a draft to a spent budget: steps with addresses of their own, each of which saves what was chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Generic, TypeVar
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dpportal.accounts.permissions import curator_required
from dpportal.platform.json_types import Json
from dpportal.publications.draft import Publication
from dpportal.publications.search_progress import from_workers

UNPROCESSABLE = 422


class StepState(StrEnum):
    """How far a step of several is; its value is its class on the page."""

    DONE = "done"
    PROPOSED = "proposed"
    CURRENT = "current"
    FAILED = "failed"
    TODO = "todo"

    @classmethod
    def of(cls, index: int, here: int) -> StepState:
        """Of the step at an index, where the one that is gone through is `here`."""
        return cls.CURRENT if index == here else cls.DONE if index < here else cls.TODO

    @property
    def is_done(self) -> bool:
        """Whether it is behind."""
        return self is StepState.DONE

    @property
    def is_proposed(self) -> bool:
        """Whether its choices were made by the portal, and nobody has looked at them."""
        return self is StepState.PROPOSED

    @property
    def is_current(self) -> bool:
        """Whether it is the one that is gone through."""
        return self is StepState.CURRENT

    @property
    def is_failed(self) -> bool:
        """Whether it was gone through and did not end well."""
        return self is StepState.FAILED


D = TypeVar("D", bound=Publication)


@dataclass(frozen=True)
class Wizard(Generic[D]):
    """The steps of one kind of draft.

    space: the URL namespace and folder of templates, in which each step is a name. name: of the draft on its pages.
    steps: names with labels. own: the curator's own draft by its id, or 404. spent: the view of one that is
    confirmed, with the sentence that says so. discard: deletes a draft, or raises `refusal`.
    """

    space: str
    name: str
    steps: Sequence[tuple[str, str | Promise]]
    own: Callable[[HttpRequest, UUID], D]
    spent: str
    already_spent: str | Promise
    discard: Callable[[D], object]
    refusal: type[Exception]

    def step(self, view: Callable[[HttpRequest, D], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        """A view of the curator's own draft; one that is confirmed leads to where it is now."""

        @curator_required
        @require_http_methods(["GET", "POST"])
        @wraps(view)
        def page(request: HttpRequest, **ids: UUID) -> HttpResponseBase:
            draft = self.own(request, *ids.values())
            return view(request, draft) if draft.is_draft else self._already_spent(request, draft)

        return page

    @method_decorator((curator_required, require_POST))
    def discard_page(self, request: HttpRequest, **ids: UUID) -> HttpResponseBase:
        """Delete the draft."""
        draft = self.own(request, *ids.values())
        try:
            self.discard(draft)
            messages.success(request, _("The draft is deleted. Nothing was spent on it."))
        except self.refusal as refusal:
            messages.error(request, str(refusal))
        return redirect("datasets:home", draft.dataset.pk)

    def dial(
        self, turned: Callable[[D, dict[str, str]], Json], refusals: tuple[type[Exception], ...]
    ) -> Callable[..., HttpResponseBase]:
        """ε (or ρ) ⇄ the wanted error: {"amount", "meaning", "worth", "half_width"}, or {"error": a sentence}.

        A refusal is an answer like any other, with 200: what is half typed is no fault to note in a browser's console.

        turned: one position of the dial, by what was asked. refusals: what it may raise beside ValidationError.
        """

        @curator_required
        @require_GET
        @from_workers
        def dial(request: HttpRequest, /, **ids: UUID) -> JsonResponse:
            try:
                return JsonResponse(turned(self.own(request, *ids.values()), request.GET.dict()))
            except ValidationError as error:
                return JsonResponse({"error": error.messages[0]})
            except refusals as refusal:
                return JsonResponse({"error": str(refusal)})

        return dial

    def forward(
        self, request: HttpRequest, draft: D, chosen: Iterable[str], step: str, part: str = ""
    ) -> HttpResponseBase:
        """Save what was chosen, the fields of these names, and go on, unless another page confirmed it meanwhile.

        part: of the next page, such as "#chosen".
        """
        if not draft.keep(chosen):
            return self._already_spent(request, draft)
        return redirect(reverse(f"{self.space}:{step}", args=[draft.pk]) + part)

    def page(
        self, request: HttpRequest, step: str, draft: D, form: BaseForm | None, **context: object
    ) -> HttpResponse:
        """The page of a step; a form in which something has to be corrected says so in the status, too."""
        shared = {
            self.name: draft,
            "draft": draft,
            "dataset": draft.dataset,
            "budget": draft.account,
            "form": form,
            "steps": self._numbered(step, draft),
            "step_label": dict(self.steps)[step],
            "nav_section": self.space,
        }
        wrong = form is not None and form.is_bound and form.errors
        status = UNPROCESSABLE if wrong else 200
        return render(request, f"{self.space}/{step}.html", {**shared, **context}, status=status)

    def _numbered(self, step: str, draft: D) -> list[Json]:
        """The steps with their state; those before this one have an address to go back to."""
        here = [name for name, _label in self.steps].index(step)
        return [
            {
                "label": label,
                "state": StepState.PROPOSED
                if i < here and name in draft.skipped_steps
                else StepState.of(i, here),
                "url": reverse(f"{self.space}:{name}", args=[draft.pk]) if i < here else "",
            }
            for i, (name, label) in enumerate(self.steps)
        ]

    def _already_spent(self, request: HttpRequest, draft: D) -> HttpResponseBase:
        messages.info(request, str(self.already_spent))
        return redirect(f"{self.space}:{self.spent}", draft.pk)
