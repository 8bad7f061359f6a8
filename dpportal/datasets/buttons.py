"""What buttons do: what a service does to a visitor's own dataset, or to what is made of it, and back to its page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils.functional import Promise
from django.views.decorators.http import require_POST

from dpportal.accounts.models import User
from dpportal.accounts.permissions import View, curator_required, current_user
from dpportal.datasets import services
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset
from dpportal.tables import ReadOptions


def button(
    own: Callable[[Callable[[HttpRequest, Any], HttpResponseBase]], View],
    act: Callable[[Any, User], object],
    done: Promise,
    *,
    back: str,
    refusals: tuple[type[Exception], ...],
) -> View:
    """Does it, says that it is done, or why not, and leads back.

    own: the decorator of views that get what is the visitor's own. back: the name of its page.
    """

    @curator_required
    @require_POST
    @own
    def pressed(request: HttpRequest, mine: Any) -> HttpResponseBase:
        try:
            act(mine, current_user(request))
            messages.success(request, str(done))
        except refusals as refusal:
            messages.error(request, str(refusal))
        return redirect(back, mine.pk)

    return pressed


def change_reading(request: HttpRequest, dataset: Dataset, options: ReadOptions) -> HttpResponseBase:
    """Has the dataset's file read in another way, or says why not, and leads back to its page."""
    try:
        services.change_parse_options(dataset, options, current_user(request))
    except DatasetError as refusal:
        messages.error(request, str(refusal))
    return redirect("datasets:home", dataset.pk)
