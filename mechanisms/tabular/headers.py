"""What columns are called in downloads: names that R and SPSS take as they are, the same in all files of a bundle.

Letters of any script, digits and underscores, beginning with a letter, at most 64 bytes, unique whatever the case, and
no word that either language keeps for itself: by R's `make.names` and SPSS's rules for variables together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from mechanisms.domain import Domain

MOST_BYTES = 64
# The columns of numbers that stand beside those of a domain in some file.
NUMBERS = (
    "noisy_count",
    "count",
    "standard_error",
    "interval_lower",
    "interval_upper",
    "estimate",
    "cell",
    "number",
    "query",
    "answer",
    "replicate",
)
_RESERVED_BY_SPSS = "all and by eq ge gt le lt ne not or to with"
_RESERVED_BY_R = (
    "if else repeat while function for next break true false null inf nan na na_integer_ na_real_ "
    "na_complex_ na_character_ in"
)
_RESERVED = frozenset(f"{_RESERVED_BY_SPSS} {_RESERVED_BY_R}".split())
_MARKS = re.compile(r"[^\w]|_", re.UNICODE)


@dataclass(frozen=True)
class Headers:
    """The names of a domain's columns, and of those that hold the labels of a column of codes; by attribute."""

    columns: dict[str, str]
    labels: dict[str, str]

    @classmethod
    def of(cls, domain: Domain) -> Headers:
        coded = [a.name for a in domain.attributes if a.has_codes]
        names = valid_names(domain.names, NUMBERS)
        columns = dict(zip(domain.names, names, strict=True))
        labels = valid_names((f"{columns[name]}_label" for name in coded), [*NUMBERS, *names])
        return cls(columns, dict(zip(coded, labels, strict=True)))

    def within(self, frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
        """The frame with these names in place of the attributes that its columns speak of."""
        return frame.assign(**{column: frame[column].map(self.columns) for column in columns})


def valid_names(names: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """A valid name for each, in order; no two alike, and none like those beside them."""
    taken = {name.casefold() for name in others}
    valid = []
    for name in names:
        valid.append(_free(_valid(name), taken))
        taken.add(valid[-1].casefold())
    return valid


def _valid(name: str) -> str:
    """The name with an underscore for every run of other signs."""
    plain = "_".join(filter(None, _MARKS.sub(" ", unicodedata.normalize("NFC", name)).split()))
    if not plain[:1].isalpha():
        plain = f"x{plain}" if plain else "column"
    if plain.casefold() in _RESERVED:
        plain = f"x_{plain}"
    return _shortened(plain, MOST_BYTES)


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free.casefold() in taken:
        number += 1
        free = f"{_shortened(name, MOST_BYTES - 1 - len(str(number)))}_{number}"
    return free


def _shortened(name: str, most: int) -> str:
    """As much of the name as fits into so many bytes."""
    return name.encode()[:most].decode(errors="ignore").rstrip("_")
