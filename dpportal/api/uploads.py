"""Uploads in pieces, which go on where they broke off: as tus 1.0.0 says (core, creation, expiration, termination)."""

from __future__ import annotations

import re
from base64 import b64decode
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.http import http_date
from django.utils.translation import gettext as _
from ninja import Router
from ninja.responses import Status

from dpportal.accounts.permissions import current_user
from dpportal.api import repeating
from dpportal.api.authentication import ADMINISTER
from dpportal.api.dataset_schemas import UploadShown
from dpportal.api.datasets import UPLOAD, shown
from dpportal.api.problems import RefusedError, nothing_here
from dpportal.api.refused_forms import require_valid
from dpportal.datasets import resumable_upload
from dpportal.datasets.access import dataset_for
from dpportal.datasets.begun_uploads import BegunUpload
from dpportal.datasets.direct_upload_forms import DirectUploadForm
from dpportal.datasets.forms import COMPLETE
from dpportal.datasets.models import Dataset, Right
from dpportal.platform.form_data import form_data
from dpportal.platform.sealed import UndecryptableValue

router = Router(tags=["uploads"])
TUS = "1.0.0"
PIECE_TYPE = "application/offset+octet-stream"
# No file has more bytes than such a number says.
_DIGITS = re.compile(r"[0-9]{1,100}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
LENGTH = {"in": "header", "name": "Upload-Length", "required": True, "schema": {"type": "integer"}}
METADATA = {
    "in": "header",
    "name": "Upload-Metadata",
    "required": True,
    "schema": {"type": "string"},
    "description": "Pairs of a name and its value in Base64, separated by commas: filename, sha256, and the fields of "
    "the page, such as name and delimiter.",
}
RESUMABLE = {
    "in": "header",
    "name": "Tus-Resumable",
    "required": True,
    "schema": {"type": "string", "enum": [TUS]},
    "description": "The version of tus; without it, or with another, 412.",
}
OFFSET = {"in": "header", "name": "Upload-Offset", "required": True, "schema": {"type": "integer"}}
IS_TUS = {"parameters": [RESUMABLE]}
BEGINS = {"parameters": [*repeating.HAS_A_KEY["parameters"], RESUMABLE, LENGTH, METADATA]}
TAKES_A_PIECE = {
    "parameters": [RESUMABLE, OFFSET],
    "requestBody": {
        "required": True,
        "content": {PIECE_TYPE: {"schema": {"type": "string", "format": "binary"}}},
    },
}


@router.post("", auth=ADMINISTER, response={200: UploadShown, 201: UploadShown}, openapi_extra=BEGINS)
def begin_upload(request: HttpRequest, response: HttpResponse) -> object:
    """Announce a table; send its pieces to the address that the answer has in `Location`, and ask there how far it is.

    All that is wrong with the announcement is said now. Sent again with the same Idempotency-Key, it is answered with
    the same upload; another announcement with that key is refused with 422. After 24 hours an upload that is not whole
    is given up.
    """
    _require_tus(request)
    metadata, size = _metadata(request), request.headers.get("Upload-Length", "")
    if not _DIGITS.fullmatch(size):
        text = _("Say in the header “Upload-Length” how many bytes the file has, in digits.")
        raise RefusedError(400, text)
    sent = repeating.RepeatableRequest(request, UPLOAD, {"fields": metadata, "size": size})
    if (known := sent.earlier()) is not None:
        return _upload_shown(request, response, _begun_before(request, known))
    sha256 = metadata.pop("sha256", "").lower()
    if sha256 and not _SHA256.fullmatch(sha256):
        text = _("A SHA-256 has 64 hexadecimal digits.")
        raise RefusedError(422, text, {"sha256": [text]})
    named = {"file_name": metadata.pop("filename", ""), "size": size}
    form = DirectUploadForm(form_data({**metadata, **named, "arrived": COMPLETE}))
    require_valid(form, sent_as={"file_name": "filename"})
    draft, chosen, by = form.save(commit=False), form.cleaned_data, current_user(request)
    with transaction.atomic():
        upload = resumable_upload.begin(
            draft, chosen["file_name"], chosen["size"], sha256, form.options().to_json(), by
        )
        sent.remember(upload.pk)
    return Status(201, _upload_shown(request, response, upload))


@router.get("/{uuid:upload_id}", auth=ADMINISTER, response=UploadShown)
def upload_state(request: HttpRequest, response: HttpResponse, upload_id: UUID) -> object:
    """How far an upload is, and the dataset that it has become."""
    return _upload_shown(request, response, _own_upload(request, upload_id))


@router.api_operation(
    ["HEAD"], "/{uuid:upload_id}", auth=ADMINISTER, response={200: None}, openapi_extra=IS_TUS
)
def upload_offset(request: HttpRequest, response: HttpResponse, upload_id: UUID) -> object:
    """How far an upload is: the header `Upload-Offset` says how many bytes have come."""
    _require_tus(request)
    _upload_shown(request, response, _own_upload(request, upload_id))
    return Status(200, None)


@router.patch("/{uuid:upload_id}", auth=ADMINISTER, response={204: None}, openapi_extra=TAKES_A_PIECE)
def append_piece(request: HttpRequest, response: HttpResponse, upload_id: UUID) -> object:
    """Send the piece that begins at `Upload-Offset`, of 64 MiB at most. 409 says where the upload is.

    After the last piece the dataset is there; a worker puts the pieces together and reads the file. Ask for the dataset
    until its state is “stored”; “refused” says why in `reading`, as where another SHA-256 came than was announced.
    """
    _require_tus(request)
    upload = _own_upload(request, upload_id)
    if request.content_type != PIECE_TYPE:
        raise RefusedError(415, _("Send a piece as %(type)s.") % {"type": PIECE_TYPE})
    offset = request.headers.get("Upload-Offset", "")
    if not _DIGITS.fullmatch(offset):
        raise RefusedError(400, _("Say in the header “Upload-Offset” at which byte the piece begins."))
    try:
        resumable_upload.append(upload, int(offset), request)
    except resumable_upload.TooMuchError as refusal:
        raise RefusedError(413, str(refusal)) from None
    _upload_shown(request, response, upload)
    return Status(204, None)


@router.delete("/{uuid:upload_id}", auth=ADMINISTER, response={204: None}, openapi_extra=IS_TUS)
def give_up_upload(request: HttpRequest, upload_id: UUID) -> object:
    """Delete what came. An upload that is whole has become a dataset, which is deleted by itself."""
    _require_tus(request)
    upload = _own_upload(request, upload_id)
    if upload.finished:
        raise RefusedError(409, _("This upload is whole, and has become a dataset. Delete that instead."))
    resumable_upload.give_up(upload)
    return Status(204, None)


def _begun_before(request: HttpRequest, upload_id: UUID) -> BegunUpload:
    """What an earlier request with the same key began. Raises RefusedError if that was given up."""
    try:
        return _own_upload(request, upload_id)
    except RefusedError:
        text = _("The upload with this Idempotency-Key was given up. Begin another one with a new key.")
        raise RefusedError(410, text) from None


def _own_upload(request: HttpRequest, upload_id: UUID) -> BegunUpload:
    """An upload of the person's own; of one that ended long ago, its dataset is what is known."""
    own = BegunUpload.objects.filter(pk=upload_id, owner=current_user(request)).first()
    if own is None:
        ended = Dataset.objects.filter(pk=upload_id, owner=current_user(request)).first()
        if ended is None:
            raise RefusedError(404, nothing_here())
        return BegunUpload(pk=upload_id, owner=ended.owner, finished=True, created_at=ended.created_at)
    if isinstance(own.offset, UndecryptableValue):
        raise RefusedError(
            503, _("The portal lacks the key with which this upload is sealed. Ask an administrator.")
        )
    return own


def _upload_shown(request: HttpRequest, response: HttpResponse, upload: BegunUpload) -> UploadShown:
    """What is answered, and in the headers of tus."""
    expires = upload.created_at + resumable_upload.RETENTION
    response["Tus-Resumable"], response["Cache-Control"] = TUS, "no-store"
    response["Location"] = request.build_absolute_uri(reverse("api:upload_state", args=[upload.pk]))
    response["Upload-Expires"] = http_date(expires.timestamp())
    if upload.size is not None:
        response["Upload-Offset"], response["Upload-Length"] = str(upload.offset), str(upload.size)
    dataset = shown(request, dataset_for(request, upload.pk, Right.SEE)) if upload.finished else None
    return UploadShown(
        id=upload.pk, offset=upload.offset, size=upload.size, expires_at=expires, dataset=dataset
    )


def _metadata(request: HttpRequest) -> dict[str, str]:
    """The header's pairs. Raises RefusedError."""
    try:
        pairs = [
            pair.split() for pair in request.headers.get("Upload-Metadata", "").split(",") if pair.strip()
        ]
        metadata = {
            name: b64decode(value[0], validate=True).decode() if value else "" for name, *value in pairs
        }
    except ValueError:
        text = _("“Upload-Metadata” is pairs of a name and its value in Base64, separated by commas.")
        raise RefusedError(400, text) from None
    if len(metadata) < len(pairs):
        raise RefusedError(400, _("“Upload-Metadata” has a name twice. Send each once."))
    return metadata


def _require_tus(request: HttpRequest) -> None:
    """The protocol asks for its version in every request, so that none is done by other rules. Raises RefusedError."""
    if request.headers.get("Tus-Resumable") != TUS:
        text = _("This portal speaks tus %(version)s. Say so in the header “Tus-Resumable”.")
        raise RefusedError(412, text % {"version": TUS}, headers={"Tus-Version": TUS, "Tus-Resumable": TUS})
