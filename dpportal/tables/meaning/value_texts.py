"""Which texts of a column that nobody declared are values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ValueTexts:
    """By themselves alone: neither blank nor too long, without breaks of lines or control characters.

    longest: letters that a value has at most. reserved: texts that are none, in small letters, whatever their case and
    the spaces around them.
    """

    longest: int
    reserved: tuple[str, ...] = ()
