"""Noise where budget is spent for it, in a program that is closed to all other noise (see `guard`)."""

from __future__ import annotations

import os

from mechanisms.noise.sampler import Noise


def secret_noise() -> Noise:
    """A source of noise from the operating system's CSPRNG."""
    return Noise(_system_bytes)


def _system_bytes(size: int) -> bytes:
    return os.urandom(size)
