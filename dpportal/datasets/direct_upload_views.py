"""What the script of the upload page asks where a browser sends files to the storage itself. Answers are JSON."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST

from dpportal.accounts.permissions import curator_required, current_user
from dpportal.datasets import direct_upload
from dpportal.datasets.direct_upload_forms import DirectUploadForm
from dpportal.datasets.faults import DatasetError
from dpportal.datasets.models import DirectUpload

UploadHandler = Callable[[HttpRequest, DirectUpload], HttpResponseBase]


@curator_required
@require_POST
def begin(request: HttpRequest) -> HttpResponseBase:
    """Announce the file of a new dataset: its size, its name, and what the form says of it."""
    if not settings.DIRECT_UPLOADS:
        raise Http404
    form = DirectUploadForm(request.POST)
    if not form.is_valid():
        return JsonResponse({"errors": form.errors})
    name, size = form.cleaned_data["file_name"], form.cleaned_data["size"]
    try:
        draft, options = form.save(commit=False), form.options().to_json()
        upload = direct_upload.begin(draft, name, size, options, current_user(request))
    except DatasetError as refused:
        return JsonResponse({"errors": {"file": [str(refused)]}})
    answer = {
        "address": reverse("datasets:direct_part", args=[upload.pk]),
        "bytes": direct_upload.part_bytes(upload),
    }
    return JsonResponse(
        {
            **answer,
            "finish": reverse("datasets:direct_finish", args=[upload.pk]),
            "give_up": reverse("datasets:direct_give_up", args=[upload.pk]),
        },
        status=201,
    )


def of_own_upload(view: UploadHandler) -> Callable[..., HttpResponseBase]:
    """A view of an announced file of the curator's own; 404 for any other, and where none can be announced."""

    @curator_required
    @require_POST
    @wraps(view)
    def guarded(request: HttpRequest, upload_id: UUID, **_: object) -> HttpResponseBase:
        if not settings.DIRECT_UPLOADS:
            raise Http404
        mine = DirectUpload.objects.filter(owner=current_user(request))
        return view(request, get_object_or_404(mine, pk=upload_id))

    return guarded


@of_own_upload
def part(request: HttpRequest, upload: DirectUpload) -> HttpResponseBase:
    """The address for one part."""
    try:
        return JsonResponse(
            {"address": direct_upload.address_of(upload, int(request.POST.get("number", "")))}
        )
    except ValueError:
        return HttpResponse(status=400)


@of_own_upload
def finish(request: HttpRequest, upload: DirectUpload) -> HttpResponseBase:
    """All parts are in the bucket: make the dataset, and say where it is."""
    try:
        dataset = direct_upload.finish(upload)
    except DatasetError as refused:
        return JsonResponse({"errors": {"file": [str(refused)]}})
    return JsonResponse({"location": reverse("datasets:home", args=[dataset.pk])}, status=201)


@of_own_upload
def give_up(request: HttpRequest, upload: DirectUpload) -> HttpResponseBase:
    """The browser stopped sending: delete the parts."""
    direct_upload.give_up(upload)
    return HttpResponse(status=204)
