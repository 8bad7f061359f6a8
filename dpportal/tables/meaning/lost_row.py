"""Whether what stands in the line of names looks like a row: a file without names would lose a person there.

The result decides on a question to the curator, never on counts, charges or publications.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from dpportal.tables.meaning.proposals import ANY_DATE, LIKE_NUMBER

# A name that is written as numbers or days are.
VALUE = re.compile(f"{LIKE_NUMBER}|{ANY_DATE}")

YEAR = re.compile("(?:18|19|20)[0-9]{2}")


def names_look_like_a_row(
    names: Sequence[str], kinds: Sequence[str], columns: Sequence[Sequence[str]]
) -> bool:
    """Whether the names are written as their columns' values are, or stand among these.

    kinds: of the columns, by their first values. columns: these values. Names such as 2019, 2020 and 2021 are of
    periods, one after the other, and no row.
    """
    triples = list(zip(names, kinds, columns, strict=True))
    measured = [name for name, kind, _texts in triples if kind in ("integer", "real", "date")]
    if not all(map(VALUE.fullmatch, measured)):
        return False
    if measured:
        return not _is_series(measured)
    return any(name in texts for name, _kind, texts in triples)


def _is_series(names: Sequence[str]) -> bool:
    """Whether the names are numbers at equal distances: three at least, or two years."""
    if not all(map(str.isdecimal, names)):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(names)}
    are_years = all(map(YEAR.fullmatch, names)) and steps <= {*range(1, 11)}
    return len(steps) == 1 and (len(names) > 2 or are_years)
