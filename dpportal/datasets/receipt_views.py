"""The receipt of an erasure, to be kept."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from dpportal.accounts.permissions import curator_required
from dpportal.datasets import receipts
from dpportal.datasets.access import with_dataset
from dpportal.datasets.models import Dataset, Right


@curator_required
@require_GET
@with_dataset(Right.OWN)
def download(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """The signed document, as it was written when the records were deleted."""
    receipt = receipts.receipt_of(dataset.pk)
    if receipt is None:
        messages.info(request, _("There is no receipt, since no records were deleted with one."))
        return redirect("datasets:home", dataset.pk)
    headers = {"Content-Disposition": f'attachment; filename="erasure-{dataset.pk}.json"'}
    return HttpResponse(receipt.document, content_type="application/json", headers=headers)
