"""The random key that a program sends with a request, so that sending it again does nothing twice.

A period's key is never looked at together with its counts. Of other requests the portal keeps a keyed digest of what
was sent with the key, so that a key that comes with another content is refused and not answered with the first one's.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from uuid import UUID

from django.utils.translation import gettext as _

from dpportal.platform.keyed import keyed

HEADER = "Idempotency-Key"
# A key that is worked out from a content would be a fingerprint of it, and who guesses the one could test the other.
# These versions of UUIDs are random; the others are digests, or say when and where they were made.
RANDOM_VERSIONS = (4, 7)


class KeyRefusedError(Exception):
    """A key that is no random UUID; the message says what to send."""


def read(header: str | None) -> str:
    """A request's key as it is written once, empty if it has none. Raises KeyRefusedError.

    The header is a string in double quotes (draft-ietf-httpapi-idempotency-key-header); without them it is read, too.
    """
    if header is None:
        return ""
    text = header.strip().removeprefix('"').removesuffix('"').lower()
    try:
        key = UUID(text)
    except ValueError:
        raise _refused() from None
    if str(key) != text or key.version not in RANDOM_VERSIONS:
        raise _refused()
    return text


def digest(owner: str, key: str) -> str:
    """What the portal keeps of a key: without the secret, nobody can test a guess of it. Empty for none.

    owner: whose keys they are, such as a stream's.
    """
    if not key:
        return ""
    return _keyed(json.dumps([owner, key])).hexdigest()


def content_digest(owner: str, act: str, content: Mapping[str, object]) -> str:
    """What the portal keeps of what was sent with a key, to tell a repeated request from another one.

    content: public parameters as JSON has them; a file's bytes as their `file_digest`, never true counts. The digest
    tells a stranger nothing about data: without the secret nobody can test a guess of it, and only a token of the
    person who sent the first request, with the key of that request, learns whether what is sent now is the same.
    """
    return _keyed(json.dumps([owner, act, content], sort_keys=True, default=str)).hexdigest()


def file_digest() -> hmac.HMAC:
    """A keyed digest of a file's bytes, to be fed with them as they come."""
    return _keyed("bytes of a file\n")


def _keyed(text: str) -> hmac.HMAC:
    return keyed(text.encode())


def _refused() -> KeyRefusedError:
    return KeyRefusedError(
        _(
            "The header “Idempotency-Key” must be a random UUID of version 4 or 7, such as "
            "“8e03978e-40d5-43dd-bc93-6894a57f9324”, new for each request and not worked out from what is sent. "
            "Send one, or none."
        )
    )
