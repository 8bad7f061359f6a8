"""Lists of declared numbers as people write them, also by their beginning and their end: 10 20 … 90."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

from mechanisms.number_text import number_written

N = TypeVar("N", int, float)
ELLIPSIS = "…"
# A declaration has no room for more.
MOST_NUMBERS = 20_000


def numbers_listed(text: str, number: type[N]) -> list[N]:
    """The numbers of a text, with blanks, commas or semicolons between them.

    Dots after two of them stand for all that follow in equal steps, up to the number after the dots: 10 20 … 50 is
    10 20 30 40 50. Raises ValueError or OverflowError if anything else is written, if the steps do not lead there, or
    if they are too many.
    """
    words = (
        text.replace("...", ELLIPSIS)
        .replace(ELLIPSIS, f" {ELLIPSIS} ")
        .replace(",", " ")
        .replace(";", " ")
        .split()
    )
    numbers: list[N] = []
    for place, word in enumerate(words):
        if word != ELLIPSIS:
            numbers.append(number(word))
            continue
        if place < 2 or place + 1 == len(words):
            raise ValueError("dots stand between two numbers and a last one")
        numbers += [number(value) for value in _steps(words[place - 2], words[place - 1], words[place + 1])]
        if len(numbers) > MOST_NUMBERS:
            raise ValueError("more numbers than a declaration has room for")
    return numbers


def _steps(before: str, start: str, end: str) -> list[Fraction]:
    """What the dots stand for, without `end`: exact, so that steps of .1 meet the numbers that people write."""
    first, second, last = map(_exact, (before, start, end))
    step = second - first
    if not step:
        raise ValueError("numbers before dots must differ")
    count = (last - second) / step
    if count.denominator != 1 or not 1 <= count <= MOST_NUMBERS:
        raise ValueError("equal steps do not lead from the first numbers to the last")
    return [second + step * place for place in range(1, int(count))]


def _exact(word: str) -> Fraction:
    value = number_written(word)
    if value is None:
        raise ValueError("not a number")
    return value


def number_text(number: float) -> str:
    """A declared number as people write it: 0, not 0.0."""
    return repr(number).removesuffix(".0")
