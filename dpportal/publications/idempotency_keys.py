"""The random key that a program sends with a request, so that sending it again does nothing twice.

A key is never looked at together with a content.
"""

from __future__ import annotations

import json
from uuid import UUID

from django.utils.translation import gettext as _

from dpportal.platform.keyed import keyed_digest

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
    content = json.dumps([owner, key]).encode()
    return keyed_digest(content).hex()


def _refused() -> KeyRefusedError:
    return KeyRefusedError(
        _(
            "The header “Idempotency-Key” must be a random UUID of version 4 or 7, such as "
            "“8e03978e-40d5-43dd-bc93-6894a57f9324”, new for each request and not worked out from what is sent. "
            "Send one, or none."
        )
    )
