"""The pages on which a curator decides what everyone sees: the last question, DOI and versions, withdrawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from django.contrib import messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts.models import User
from dpportal.accounts.permissions import curator_required, current_user
from dpportal.publications.draft import Publication
from dpportal.publications.publishing import (
    DetailsForm,
    PublishForm,
    WithdrawalForm,
    details_of,
    publication_of,
)
from dpportal.publications.steps import UNPROCESSABLE
from dpportal.publications.verdict import Verdict

P = TypeVar("P", bound=Publication)


@dataclass(frozen=True)
class CuratorPages(Generic[P]):
    """These pages of one kind of publication.

    space: the URL namespace. home: in it, the curator's page without true counts, for nobody shall look before they
    decide. own: the curator's publication by its id, or 404. replaceable: the datasets whose publications one may
    replace. verdict: what was expected before anything was counted. readers_see: what everyone will have, in words.
    publish, withdraw: do it, or raise `refusal`. too_early, published: what is said of one that cannot be published
    yet, and of one that was.
    """

    space: str
    home: str
    own: Callable[[HttpRequest, UUID], P]
    replaceable: Callable[[HttpRequest], QuerySet[Model]]
    verdict: Callable[[P], Verdict | None]
    readers_see: Callable[[P], object]
    publish: Callable[[P, User], object]
    withdraw: Callable[[P, User, str], object]
    refusal: type[Exception]
    too_early: str | Promise
    published: str | Promise

    @method_decorator((curator_required, require_http_methods(["GET", "POST"])))
    def publish_page(self, request: HttpRequest, **ids: UUID) -> HttpResponseBase:
        """A last question, then everyone may see it."""
        publication = self.own(request, *ids.values())
        if not publication.is_publishable:
            messages.error(request, str(self.too_early))
            return redirect(f"{self.space}:{self.home}", publication.pk)
        try:
            form = self.published_by(request, publication, _sent(request))
        except self.refusal as refusal:
            messages.error(request, str(refusal))
            return redirect(f"{self.space}:{self.home}", publication.pk)
        if form is None:
            return self._public(request, publication, self.published)
        seen = self.readers_see(publication)
        context = {"readers_see": seen, "verdict": self.verdict(publication), "foreseen": True}
        return self._page(request, "publish.html", publication, form, **context)

    def published_by(
        self, request: HttpRequest, publication: P, posted: QueryDict | None
    ) -> PublishForm | None:
        """The form under the last question; None once it was answered, and everyone may see the publication."""
        # What the truth says has no part in whether it is published: that would tell of the data.
        verdict = self.verdict(publication)
        datasets, by = self.replaceable(request), current_user(request)
        return publication_of(
            posted, publication, datasets, verdict, by, lambda by: self.publish(publication, by)
        )

    @method_decorator((curator_required, require_http_methods(["GET", "POST"])))
    def details_page(self, request: HttpRequest, **ids: UUID) -> HttpResponseBase:
        """Where it stands among others, public or not."""
        publication = self.own(request, *ids.values())
        if not publication.is_publishable:
            return redirect(f"{self.space}:{self.home}", publication.pk)
        form = self.detailed_by(request, publication, _sent(request))
        if form is None:
            return self._public(request, publication, _("Saved."))
        return self._page(request, "details.html", publication, form)

    def details_form(self, request: HttpRequest, publication: P, posted: QueryDict | None) -> DetailsForm:
        """Where it stands among others, as it was sent; nothing is kept of it."""
        return DetailsForm(posted, publication=publication, datasets=self.replaceable(request))

    def detailed_by(
        self, request: HttpRequest, publication: P, posted: QueryDict | None
    ) -> DetailsForm | None:
        """The form of its details; None once it was sent and kept."""
        return details_of(posted, publication, self.replaceable(request), current_user(request))

    @method_decorator((curator_required, require_POST))
    def withdraw_page(self, request: HttpRequest, **ids: UUID) -> HttpResponseBase:
        """Take it back, with the reason that was given."""
        publication, form = self.own(request, *ids.values()), WithdrawalForm(request.POST)
        if not form.is_valid():
            messages.error(request, str(form.errors["because"][0]))
            return redirect(f"{self.space}:{self.home}", publication.pk)
        done = _("Withdrawn. The page and the downloads are closed; the budget stays spent.")
        try:
            self.withdraw(publication, current_user(request), form.cleaned_data["because"])
        except self.refusal as refusal:
            messages.error(request, str(refusal))
            return redirect(f"{self.space}:{self.home}", publication.pk)
        return self._public(request, publication, done)

    def _public(self, request: HttpRequest, publication: P, done: str | Promise) -> HttpResponseBase:
        messages.success(request, str(done))
        return redirect(f"{self.space}:public", publication.pk)

    def _page(
        self, request: HttpRequest, template: str, publication: P, form: DetailsForm, **context: object
    ) -> HttpResponse:
        shared = {
            "publication": publication,
            "dataset": publication.dataset,
            "back_url": reverse(f"{self.space}:{self.home}", args=[publication.pk]),
            "nav_section": self.space,
            "form": form,
        }
        status = UNPROCESSABLE if form.errors else 200
        return render(request, template, {**shared, **context}, status=status)


def _sent(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None
