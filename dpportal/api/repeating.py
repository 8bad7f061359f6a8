"""Requests that are sent again with the same key: they do nothing, and are answered with what the first one did."""

from __future__ import annotations

from uuid import UUID

from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from dpportal.accounts.permissions import current_user
from dpportal.api.models import AnsweredRequest
from dpportal.api.problems import RefusedError
from dpportal.publications import idempotency_keys

# For the description of the API.
HAS_A_KEY = {
    "parameters": [
        {
            "in": "header",
            "name": idempotency_keys.HEADER,
            "schema": {"type": "string", "format": "uuid"},
            "required": False,
            "description": "A random UUID: what is sent again with the same key is done once.",
        }
    ]
}


def earlier(request: HttpRequest, act: str) -> UUID | None:
    """The object to which an earlier request with this key did the same; None if there was none, or no key.

    act: what is done, and to what. Raises KeyRefusedError, and RefusedError for the key of another act.
    """
    key = _key(request)
    if not key:
        return None
    row = AnsweredRequest.objects.filter(person=current_user(request), key=key).first()
    if row is not None and row.act != act:
        raise RefusedError(
            422, _("Another request was sent with this Idempotency-Key. Send a new key with each request.")
        )
    return row.subject if row else None


def remember(request: HttpRequest, act: str, subject: UUID) -> None:
    """Keep the request's key with what it did, in the transaction that does it. Raises RefusedError in a race."""
    if key := _key(request):
        row = AnsweredRequest(person=current_user(request), key=key, act=act, subject=subject)
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            text = _("A request with this Idempotency-Key is being answered now. Send it again in a moment.")
            raise RefusedError(409, text) from None


def _key(request: HttpRequest) -> str:
    sent = idempotency_keys.read(request.headers.get(idempotency_keys.HEADER))
    return idempotency_keys.digest(f"api {current_user(request).pk}", sent)
