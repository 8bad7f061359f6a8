"""Digests of stored files, as they lie there."""

from __future__ import annotations

from dpportal.platform import storage


def digest_of(name: str) -> str:
    """The SHA-256 of a stored file; empty if there is none."""
    try:
        with storage.local_path(name) as path:
            return storage.sha256(path)
    except FileNotFoundError:
        return ""
