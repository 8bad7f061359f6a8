"""Columns of categories: declared values, or yes and no."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from mechanisms.domain.attribute import MISSING_LABEL, Attribute
from mechanisms.number_text import number_written

OTHER_LABEL = "Other"


@dataclass(frozen=True)
class Categorical(Attribute):
    """Declared values; anything else goes to the cell `Other`, which is added unless it is declared or all is closed.

    as_numbers: whether texts are compared as the numbers that they write, so that 1, 1.0 and 01 are one value.
    words: what each value is called, in the order of the values; empty where they speak for themselves. Values that
        are called alike are one cell.
    """

    values: tuple[str, ...] = ()
    as_numbers: bool = False
    words: tuple[str, ...] = ()
    kind: ClassVar[str] = "categorical"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require(bool(self.values), "declare at least one value.")
        distinct = len(set(self.values)) == len(self.values)
        self._require(distinct, "a value is declared twice; list each value once.")
        if self.as_numbers:
            numbers = [number_written(value) for value in self.values]
            self._require(None not in numbers, "every value must be a number to be compared as one.")
            apart = len(set(numbers)) == len(numbers)
            self._require(apart, "two values are the same number; list each number once.")
        self._check_words()

    def _check_words(self) -> None:
        if self.words:
            self._require(len(self.words) == len(self.values), "give every value a word, or none of them.")
            self._require(all(self.words), "a word for a value is empty.")

    @cached_property
    def cells(self) -> tuple[str, ...]:
        """What the cells are called: each word or value once, then that for all others, if it is not among them."""
        named = tuple(dict.fromkeys(self.words or self.values))
        return named if self.closed or OTHER_LABEL in named else (*named, OTHER_LABEL)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The cell of each value."""
        place = {label: cell for cell, label in enumerate(self.cells)}
        return tuple(place[label] for label in self.words or self.values)

    @property
    def has_codes(self) -> bool:
        """Whether each cell's value is a code, which a word explains: no two values share a cell."""
        return bool(self.words) and len(set(self.words)) == len(self.values)

    def codes(self) -> list[str]:
        if not self.has_codes:
            return self.labels()
        return [*self.values, *self.labels()[len(self.values) :]]

    @property
    def regular_size(self) -> int:
        return len(self.cells)

    @property
    def other(self) -> int | None:
        return self.misfits_to if self.closed else self.cells.index(OTHER_LABEL)

    @property
    def undeclared(self) -> int | None:
        """The cell that only values have that were not declared."""
        is_added = not self.closed and OTHER_LABEL not in (self.words or self.values)
        return len(self.cells) - 1 if is_added else None

    @property
    def takes_unread(self) -> int | None:
        return None if self.missing_cell else self.misfits_to

    @property
    def leaves_out(self) -> bool:
        return self.other is None

    def regular_labels(self) -> list[str]:
        return list(self.cells)

    def to_json(self) -> dict[str, object]:
        numbers = {"as_numbers": True} if self.as_numbers else {}
        words = {"words": list(self.words)} if self.words else {}
        return {**super().to_json(), "values": list(self.values), **numbers, **words}


@dataclass(frozen=True)
class Boolean(Attribute):
    """False, then true.

    values: how the table writes the two, in this order; empty: false and true. words: what they are called. They name
    cells alone: which texts are read as false and true does not depend on them.
    """

    values: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    kind: ClassVar[str] = "boolean"

    def __post_init__(self) -> None:
        super().__post_init__()
        for texts, what in ((self.values, "value"), (self.words, "label")):
            self._require(
                len(texts) in (0, 2) and all(texts), "give no and yes a {what} each, or neither.", what=what
            )
            self._require(len(set(texts)) == len(texts), "no and yes need different {what}s.", what=what)
            self._require(
                MISSING_LABEL not in texts,
                "“{missing_label}” is the name of another cell.",
                missing_label=MISSING_LABEL,
            )

    @property
    def regular_size(self) -> int:
        return 2

    def regular_labels(self) -> list[str]:
        return list(self.words or self._written)

    @property
    def _written(self) -> tuple[str, ...]:
        return self.values or ("false", "true")

    @property
    def has_codes(self) -> bool:
        return bool(self.words)

    def codes(self) -> list[str]:
        return [*self._written, *self.labels()[2:]]

    def to_json(self) -> dict[str, object]:
        named = {"values": list(self.values)} if self.values else {}
        words = {"words": list(self.words)} if self.words else {}
        return {**super().to_json(), **named, **words}
