"""Messages of a portal's webhooks, read once their signature is known to be good."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

# A message whose signature is older, or so far in the future, may be one that somebody sends again.
TOLERANCE_SECONDS = 300.0


def verified(
    secret: str, headers: Mapping[str, str], body: bytes, *, tolerance: float = TOLERANCE_SECONDS
) -> dict[str, Any]:
    """What a webhook says, by name. Raises ValueError unless this portal signed it, lately.

    secret: as the portal showed it, whsec_…. headers, body: of the request, the body as it came. Messages can come
    twice: the header “webhook-id” stays the same. Source: Standard Webhooks 1.0.0.
    """
    sent = {name.lower(): value for name, value in headers.items()}
    message, at, signatures = (sent.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not at.isdecimal() or abs(time.time() - int(at)) > tolerance:
        raise ValueError(
            "This message has no time, or was signed too long ago. Compare your clock with the portal's."
        )
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        raise ValueError("The secret is not whole: it begins with whsec_.") from None
    signed = hmac.new(key, f"{message}.{at}.".encode() + body, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(signed)
    if not any(hmac.compare_digest(expected, each.encode()) for each in signatures.split(" ")):
        raise ValueError("The signature is not good for this message and this secret.")
    event: dict[str, Any] = json.loads(body)
    return event
