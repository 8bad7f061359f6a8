"""Who may begin a draft, and of what."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dpportal.accounts.permissions import curator_required
from dpportal.datasets.access import with_dataset
from dpportal.datasets.models import Dataset, Right
from dpportal.releases import services

Begin = Callable[[HttpRequest, Dataset], HttpResponseBase]


def starting(view: Begin) -> Callable[..., HttpResponseBase]:
    """Let whoever may release from a dataset in; back to its page where nothing can be released from it yet."""

    @curator_required
    @require_POST
    @with_dataset(Right.RELEASE)
    @wraps(view)
    def begun(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
        reason = services.why_not_started(dataset)
        if not reason:
            return view(request, dataset)
        messages.info(request, reason)
        return redirect("datasets:home", dataset.pk)

    return begun
