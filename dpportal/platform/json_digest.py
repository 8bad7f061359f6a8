"""By what it is known whether something still says the same: the digest of its canonical JSON."""

from __future__ import annotations

import hashlib
import json


def json_digest(value: object) -> str:
    """SHA-256 in hexadecimal digits, whatever the order of keys. value: of JSON's own types."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
