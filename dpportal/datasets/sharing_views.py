"""Pages on which an owner shares a dataset and takes the right back."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from dpportal.accounts.models import User
from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import sharing
from dpportal.datasets.access import with_dataset
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import Dataset, Right, Share
from dpportal.datasets.sharing_forms import OPENS, ShareForm
from dpportal.platform.json_types import Json


@curator_required
@require_http_methods(["GET", "POST"])
@with_dataset(Right.OWN)
def share(request: HttpRequest, dataset: Dataset) -> HttpResponseBase:
    """Give another curator a right to a dataset."""
    form = ShareForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        answers = form.cleaned_data
        try:
            sharing.share(dataset, answers["name"], answers["right"], current_user(request))
        except DatasetError as refusal:
            form.add_error("name", str(refusal))
        else:
            messages.success(request, _("Shared. It is on the list of their datasets now."))
            return redirect("datasets:home", dataset.pk)
    context = {"dataset": dataset, "form": form, "nav_section": "datasets"}
    return render(request, "datasets/share.html", context, status=422 if form.errors else 200)


@curator_required
@require_POST
@with_dataset(Right.SEE)
def take_back(request: HttpRequest, dataset: Dataset, share_id: int) -> HttpResponseBase:
    """An owner takes anyone's right back; anyone gives back their own."""
    by = current_user(request)
    given = get_object_or_404(Share.objects.select_related("person"), pk=share_id, dataset=dataset)
    if not dataset.can_own and given.person_id != by.pk:
        raise Http404
    sharing.take_back(given, by)
    if given.person_id == by.pk:
        messages.success(request, _("The dataset is not shared with you any more."))
        return redirect("datasets:list")
    messages.success(request, _("Taken back. What they asked for and still waits will not be done."))
    return redirect("datasets:home", dataset.pk)


def shared_with(dataset: Dataset, visitor: User) -> Json:
    """What the dataset's page says of sharing: to owners with whom, to others what they may do."""
    shares = dataset.shares.select_related("person")
    own = shares.filter(person=visitor).first()
    return {
        "shares": list(shares) if dataset.can_own else [],
        "share": own,
        "opens": OPENS[Right(own.right)] if own else "",
    }
