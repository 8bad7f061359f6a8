"""Datasets: uploaded, read, renamed, erased, removed."""

from __future__ import annotations

from hmac import HMAC
from uuid import UUID

from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import Router
from ninja.responses import Status

from dpportal.accounts.permissions import current_user
from dpportal.api import repeating
from dpportal.api.authentication import ADMINISTER, READ
from dpportal.api.dataset_schemas import DatasetChange, DatasetPage, DatasetShown
from dpportal.api.problems import RefusedError
from dpportal.api.refused_forms import require_valid
from dpportal.api.shown import PageNumber, Wait, job_shown, page_of
from dpportal.datasets import services
from dpportal.datasets.access import dataset_for, open_datasets, with_listed_right
from dpportal.datasets.declared import declared_of
from dpportal.datasets.description_forms import RenameForm
from dpportal.datasets.forms import COMPLETE, UploadForm
from dpportal.datasets.models import Dataset, Right
from dpportal.datasets.same_table import same_table
from dpportal.platform.form_data import form_data
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import in_a_row
from dpportal.publications import idempotency_keys
from dpportal.serving import long_polling
from dpportal.serving.files import LimitedUploadHandler, refusal as upload_refusal, upload_limit

router = Router(tags=["datasets"])
UPLOAD = "upload"
FORM_TYPE = "multipart/form-data"
# Named here, since a file is read by the portal's own handler and not by the framework.
TAKES_A_FILE = {
    **repeating.HAS_A_KEY,
    "requestBody": {
        "required": True,
        "content": {
            FORM_TYPE: {
                "schema": {
                    "type": "object",
                    "required": ["file", "arrived"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        **{
                            name: {"type": "string", "description": str(field.label)}
                            for name, field in UploadForm.base_fields.items()
                            if name not in ("file", "arrived")
                        },
                        "arrived": {"type": "string", "enum": [COMPLETE]},
                    },
                }
            }
        },
    },
}


@router.get("", auth=READ, response=DatasetPage)
def datasets(request: HttpRequest, page: PageNumber = 1) -> object:
    """The datasets that the token's person may see, newest first."""
    rows = open_datasets(request).select_related("conversion", "duplicate_of").order_by("-created_at")
    return page_of(request, rows, page, lambda row: shown(request, with_listed_right(request, row)))


@router.post("", auth=ADMINISTER, response={200: DatasetShown, 201: DatasetShown}, openapi_extra=TAKES_A_FILE)
def upload(request: HttpRequest) -> object:
    """Send a table as a form with a file. A worker reads it: ask for the dataset until its state is “stored”.

    The fields are those of the page: `name`, `description` and how the file is read. What is left out is proposed from
    the first rows. `arrived` comes last, with the value “whole”: without it, the file may be cut short.
    Sent again with the same Idempotency-Key, it is answered with the same dataset; another file, or another field, with
    that key is refused with 422.
    """
    if request.content_type != FORM_TYPE:
        raise RefusedError(
            415, _("Send a form with the table in the field “file”, as %(type)s.") % {"type": FORM_TYPE}
        )
    digest = idempotency_keys.file_digest() if repeating.sent_key(request) else None
    request.upload_handlers = [LimitedUploadHandler(request, upload_limit(), digest)]
    form = UploadForm(request.POST, request.FILES)
    if refused := upload_refusal(request):
        raise RefusedError(413, refused)
    if request.POST.get("arrived") != COMPLETE:
        text = _(
            "The last field, “arrived” with the value “%(whole)s”, did not come: the form was cut short, or was sent "
            "without it. Send it again; nothing was kept."
        ) % {"whole": COMPLETE}
        raise RefusedError(422, text, {"arrived": [text]})
    require_valid(form)
    draft, file, by = form.save(commit=False), form.cleaned_data["file"], current_user(request)
    sent = repeating.RepeatableRequest(request, UPLOAD, _content(request, file, digest))
    if (known := sent.earlier()) is not None:
        return shown(request, dataset_for(request, known, Right.SEE))
    services.create_dataset(draft, file, form.options().to_json(), by, sent.remember)
    return Status(201, shown(request, dataset_for(request, draft.pk, Right.SEE)))


def _content(request: HttpRequest, file: UploadedFile[bytes], digest: HMAC | None) -> dict[str, object]:
    """An upload, as one that comes again is compared with it: fields, name, size and a keyed digest of the bytes."""
    bytes_digest = digest and digest.hexdigest()
    return {"fields": dict(request.POST.lists()), "file": [file.name, file.size, bytes_digest]}


@router.get("/{uuid:dataset_id}", auth=READ, response=DatasetShown)
def dataset(request: HttpRequest, response: HttpResponse, dataset_id: UUID, wait: Wait = 0) -> object:
    """One dataset. wait: while its file is being read, the answer waits for the end, so many seconds at most."""
    visible = dataset_for(request, dataset_id, Right.SEE)
    if wait and visible.is_converting:
        long_polling.wait(request, response, wait)
    return shown(request, visible)


@router.patch("/{uuid:dataset_id}", auth=ADMINISTER, response=DatasetShown)
def rename(request: HttpRequest, dataset_id: UUID, payload: DatasetChange) -> object:
    """Change a dataset's name, or its own description, which curators alone see."""
    dataset = dataset_for(request, dataset_id, Right.OWN)
    now = {"name": dataset.name, "description": dataset.description}
    form = RenameForm(form_data({**now, **payload.dict(exclude_unset=True)}), instance=dataset)
    require_valid(form)
    form.keep(current_user(request))
    return shown(request, dataset_for(request, dataset_id, Right.OWN))


@router.delete("/{uuid:dataset_id}", auth=ADMINISTER, response={204: None})
def remove(request: HttpRequest, dataset_id: UUID) -> object:
    """Take an upload off the list that was not loaded."""
    services.remove(dataset_for(request, dataset_id, Right.OWN), current_user(request))
    return Status(204, None)


@router.delete("/{uuid:dataset_id}/records", auth=ADMINISTER, response=DatasetShown)
def erase(request: HttpRequest, dataset_id: UUID) -> object:
    """Delete the records for ever. Releases and the ledger stay."""
    services.erase(dataset_for(request, dataset_id, Right.OWN), current_user(request))
    return shown(request, dataset_for(request, dataset_id, Right.SEE))


def shown(request: HttpRequest, dataset: Dataset) -> DatasetShown:
    """A dataset that knows its visitor's right; how many rows it has is nobody's to read here.

    How far reading is, and why it failed, is for owners alone, as on the page: it names rows by their number.
    """
    is_read = dataset.can_own and not dataset.is_tableless and hasattr(dataset, "conversion")
    job = dataset.conversion if is_read else None
    return DatasetShown(
        id=dataset.pk,
        name=dataset.name,
        description=dataset.description,
        state=dataset.state,
        right=int(dataset.right),
        columns=[column["name"] for column in dataset.columns],
        declared=list(declared_of(dataset)),
        asks_for_unit=dataset.asks_for_unit,
        created_at=dataset.created_at,
        reading=job_shown(job),
        **_twin(request, dataset),
    )


def _twin(request: HttpRequest, dataset: Dataset) -> Json:
    twin = same_table(dataset, current_user(request))
    if twin is None:
        return {}
    own = twin.original.pk if twin.original else None
    return {"duplicate_of": own, "remark": in_a_row([twin.title, twin.text])}
