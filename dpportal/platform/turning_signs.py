"""Signs that nobody sees and that turn the direction in which what stands beside them is written.

With these a text can look like another one. The marks that belong to a letter from right to left turn nothing.

Source: Unicode Standard Annex 9, and Technical Report 36.
"""

from __future__ import annotations

# Embeddings, overrides and isolates; and the deprecated format characters.
TURNING = frozenset(map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x2070))))


def without_turning(text: str) -> str:
    """The text as one reads it in the order of its letters."""
    return "".join(sign for sign in text if sign not in TURNING)
