"""What the portal says of a content with keys of its own: a digest that nobody else can test, a signature."""

from __future__ import annotations

import hashlib
import hmac

from django.conf import settings

from dpportal.platform.sealing_faults import KeyMissingFault
from dpportal.platform.signing import SigningKeys


def keyed(content: bytes) -> hmac.HMAC:
    """HMAC-SHA-256 with the fingerprint key, which may be fed with more: without it nobody can test a guess.

    Raises KeyMissingFault where the master key is missing, which wraps it.
    """
    if not settings.FINGERPRINT_KEY:
        raise KeyMissingFault(settings.MASTER_KEYS.missing)
    return hmac.new(settings.FINGERPRINT_KEY.encode(), content, hashlib.sha256)


def keyed_digest(content: bytes) -> bytes:
    """The same of a content that is complete."""
    return keyed(content).digest()


def signing_keys() -> SigningKeys:
    """The keys that sign. Raises KeyMissingFault where the master key is missing, which wraps them."""
    if settings.SIGNING_KEYS is None:
        raise KeyMissingFault(settings.MASTER_KEYS.missing)
    return settings.SIGNING_KEYS
