"""What the wizard names first among a product's methods."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recommendation:
    """A method to take, by its name, and why in a sentence. figure: what to expect of it, in a few words."""

    mechanism: str
    title: str
    why: str
    figure: str = ""
