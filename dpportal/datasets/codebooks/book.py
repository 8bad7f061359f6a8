"""What a codebook says."""

from __future__ import annotations

from dataclasses import dataclass

from mechanisms.domain import Attribute

FILLED = "filled_from_data"


@dataclass(frozen=True)
class Codebook:
    """Declarations of columns. filled: those of them that were taken from data, which a release must say."""

    attributes: tuple[Attribute, ...]
    filled: frozenset[str] = frozenset()
