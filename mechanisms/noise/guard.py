"""Whether `Noise()` may draw: anywhere in a library, nowhere in a program that has closed itself.

Such a program calls `close()` when it starts, and makes its noise by `secret.secret_noise` where it spends budget for
it. Who may import either module is a contract of the program, so no page or form draws noise by mistake.
"""

from __future__ import annotations

import os

from mechanisms.noise.exact import Source

_is_closed = False


class NoiseRefusedError(RuntimeError):
    """Noise was to be drawn where no budget is spent for it."""

    def __init__(
        self,
        text: str = "This program draws noise only where it spends budget, by mechanisms.noise.secret.secret_noise().",
    ) -> None:
        super().__init__(text)  # an argument, so that another process can say it on


def close() -> None:
    """From now on, in this process, `Noise()` raises NoiseRefusedError."""
    global _is_closed
    _is_closed = True


def admitted(source: Source | None) -> Source:
    """Where to draw bytes from: the operating system, if no source is given. Raises NoiseRefusedError."""
    if _is_closed and source in (None, os.urandom):
        raise NoiseRefusedError
    return source or os.urandom
