"""What a codebook says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpportal.datasets.labels import LONGEST_TITLE
from dpportal.platform.json_types import Json
from mechanisms.domain import Attribute, Categorical

# A column of more cells would take minutes to list.
MAX_CELLS_OF_A_COLUMN = 10**6
FILLED = "filled_from_data"
MISSING_CODES = "missing_codes"  # in what a foreign codebook says of a column: how many
# All that a codebook says of a column of numbers: which of them have labels.
SPECIAL_VALUES = "special_values"


@dataclass(frozen=True)
class Codebook:
    """Declarations of columns. filled: those of them that were taken from data, which a release must say.

    left_out: columns that the table does not have. missing_codes: how many codes of a column the codebook calls missing
    values; they are not declared. special_values: of columns of numbers, of whose bounds it says nothing, those values
    that have labels, as texts.
    """

    attributes: tuple[Attribute, ...]
    filled: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()
    missing_codes: tuple[tuple[str, int], ...] = ()
    special_values: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def joined(self) -> tuple[str, ...]:
        """Columns some of whose values have the same label, and so one cell."""
        lists = (a for a in self.attributes if isinstance(a, Categorical))
        return tuple(a.name for a in lists if a.words and not a.has_codes)


def titled(entry: Json, title: object) -> Json:
    """What a foreign codebook says of a column, with what it calls the column in words."""
    shown = " ".join(str(title or "").split())[:LONGEST_TITLE].rstrip()
    return {**entry, "title": shown} if shown else entry


def categories(values: Sequence[str], labels: Sequence[str]) -> Json:
    """Values with their labels, as `release.json` declares them; a value whose label is empty is called as written."""
    words = [label or value for value, label in zip(values, labels, strict=True)]
    named = {} if words == list(values) else {"words": words}
    return {"kind": "categorical", "values": list(values), **named}
