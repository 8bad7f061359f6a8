"""The signature of what a webhook is sent. Source: Standard Webhooks 1.0.0, symmetric signatures."""

from __future__ import annotations

import base64
import hashlib
import hmac

from dpportal.platform.sealed_files import new_key

PREFIX = "whsec_"
VERSION = "v1"


def new_secret() -> str:
    """A secret of 256 random bits, in the form that libraries of Standard Webhooks take."""
    return PREFIX + base64.b64encode(new_key()).decode()


def headers(secret: str, message_id: str, body: bytes, now: int) -> dict[str, str]:
    """What is sent beside the body. message_id: the same each time. now: in seconds since 1970."""
    signed = f"{message_id}.{now}.".encode() + body
    digest = hmac.new(base64.b64decode(secret.removeprefix(PREFIX)), signed, hashlib.sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(now),
        "webhook-signature": f"{VERSION},{base64.b64encode(digest).decode()}",
    }
