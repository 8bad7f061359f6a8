"""What the wizard names first among a product's methods, and what that rests on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recommendation:
    """A method to take, by its name, and why in a sentence. figure: what to expect of it, in a few words."""

    mechanism: str
    title: str
    why: str
    figure: str = ""


@dataclass(frozen=True)
class Recommendations:
    """The methods to take, best first. grounds: what they rest on, as the page of methods shows it, if it does."""

    methods: list[Recommendation]
    grounds: object = None
