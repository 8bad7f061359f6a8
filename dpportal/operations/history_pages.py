"""What readers and auditors take along of the history: the portal's public keys, and a signed checkpoint."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_POST, require_safe

from dpportal.accounts import audit
from dpportal.accounts.permissions import administrator_required, current_user
from dpportal.history import chain, checkpoints
from dpportal.platform import keyed


@require_safe
def signing_keys(request: HttpRequest) -> HttpResponse:
    """The public keys that the portal signs with and signed with, the present one first."""
    keys = [{"algorithm": "Ed25519", "public": key} for key in keyed.signing_keys().public]
    return JsonResponse({"keys": keys})


@administrator_required
@require_POST
def checkpoint(request: HttpRequest) -> HttpResponse:
    """A checkpoint of the history as it is now, as a file."""
    person = current_user(request)
    audit.record(person, "took a checkpoint", person)
    last = chain.last_link()
    name = f"checkpoint-{last.position if last else 0}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(checkpoints.checkpoint_bytes(), content_type="application/json", headers=headers)
