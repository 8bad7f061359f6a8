"""Randomness that is not secret, for post-processing only."""

from __future__ import annotations

import numpy as np

DIGEST_BYTES = 32


def repeatable(digest: bytes) -> np.random.Generator:
    """A generator that is a pure function of a public SHA-256 digest.

    It has no role in privacy: whoever knows the digest knows every number it yields, and its numbers are
    floats. It serves steps that must give the same bytes each time they run on something already released,
    such as drawing values inside published bins. Noise comes from `Noise`, never from here.

    digest: 32 bytes. Raises ValueError for any other length.
    """
    if len(digest) != DIGEST_BYTES:
        raise ValueError(f"digest must have {DIGEST_BYTES} bytes, got {len(digest)}")
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
