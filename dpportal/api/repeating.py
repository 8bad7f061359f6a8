"""Requests that are sent again with the same key: they do nothing, and are answered with what the first one did."""

from __future__ import annotations

from collections.abc import Mapping
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
            "description": "A random UUID: what is sent again with the same key is done once. "
            "The same key with another content is refused with 422.",
        }
    ]
}


class RepeatableRequest:
    """A request that is done once for its key, which it may lack.

    act: what is done, and to what. content: all that it asks for, as `idempotency_keys.content_digest` takes it.
    Raises KeyRefusedError.
    """

    def __init__(self, request: HttpRequest, act: str, content: Mapping[str, object]) -> None:
        self.request, self.act = request, act
        self._person = current_user(request)
        owner = f"api {self._person.pk}"
        self._key = idempotency_keys.digest(owner, sent_key(request))
        self._content = idempotency_keys.content_digest(owner, act, content)

    def earlier(self) -> UUID | None:
        """The object to which this request did the same before; None if there was none, or no key.

        Raises RefusedError where the key came with another act or content.
        """
        if not self._key:
            return None
        row = AnsweredRequest.objects.filter(person=self._person, key=self._key).first()
        if row is None:
            return None
        if (row.act, row.content) != (self.act, self._content):
            raise RefusedError(422, _key_conflict_text())
        return row.subject

    def remember(self, subject: UUID) -> None:
        """Keep the key with what was done, in the transaction that does it. Raises RefusedError in a race."""
        if not self._key:
            return
        row = AnsweredRequest(
            person=self._person, key=self._key, content=self._content, act=self.act, subject=subject
        )
        try:
            with transaction.atomic():
                row.save(force_insert=True)
        except IntegrityError:
            text = _("A request with this Idempotency-Key is being answered now. Send it again in a moment.")
            raise RefusedError(409, text, wait=1) from None


def sent_key(request: HttpRequest) -> str:
    """The request's key, empty if it has none. Raises KeyRefusedError."""
    return idempotency_keys.read(request.headers.get(idempotency_keys.HEADER))


def _key_conflict_text() -> str:
    return _(
        "Another request was sent with this Idempotency-Key, so nothing was done now. Send the first request again as "
        "it was, or send this one with a new key."
    )
