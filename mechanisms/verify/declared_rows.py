"""Whether every synthetic row keeps what was declared of it: values that exclude each other, values that follow.

No fit is repeated, so it can be told of any number of rows, on every processor. Columns of numbers and dates are left
out: their values are drawn inside cells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from mechanisms.domain import Attribute, Boolean, Categorical, Domain
from mechanisms.inert_text import inert
from mechanisms.microdata.constraints import Wishes
from mechanisms.microdata.known_values import is_declared
from mechanisms.tabular.headers import Headers
from mechanisms.tabular.label_columns import written
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding

WHAT = "declared of rows"
_ROWS_READ = 100_000


def check(bundle: Bundle, name: str, domain: Domain, wishes: Wishes) -> Iterator[Finding]:
    """One line, where something was declared of columns that the file has. Raises KeyError if there is no file."""
    columns = dict(_columns(bundle, name, domain, wishes))
    own = wishes.among([attribute.name for attribute in columns.values()])
    if not (own.zeros or own.follows):
        return
    rows, fault = 0, ""
    declared = _Declared(Domain(tuple(columns.values())), own)
    for cells in _cells(bundle, name, columns):
        fault = fault or declared.fault(cells)
        rows += len(cells)
    lines = len(own.zeros) + len(own.follows)
    yield Finding.of(WHAT, fault, f"{rows:,} rows keep {lines:,} declared lines")


class _Declared:
    """What rows of these columns keep; of what follows it is remembered what earlier rows had."""

    def __init__(self, domain: Domain, wishes: Wishes) -> None:
        self._domain, self._impossible = domain, wishes.impossible(domain)
        known = wishes.known_values(domain)
        self._companions = {pair: known.of(pair).copy() for pair in wishes.dependencies(domain)}

    def fault(self, cells: np.ndarray) -> str:
        """(n, d) cells: the first thing that is otherwise, in words; empty if nothing is."""
        if (cells < 0).any():
            return "a row has a value that is not declared"
        if self._impossible.broken(cells).any():
            return "a row has two values that cannot occur together"
        for (first, other), companions in self._companions.items():
            own = cells[is_declared(self._domain.attributes[first])[cells[:, first]]]
            for value, follows in np.unique(own[:, [first, other]], axis=0).tolist():
                if companions[value] not in (-1, follows):
                    names = self._domain.names
                    return f"{names[other]} does not follow from {names[first]} in a row"
                companions[value] = follows
        return ""


def _columns(bundle: Bundle, name: str, domain: Domain, wishes: Wishes) -> Iterator[tuple[str, Attribute]]:
    """What was declared of, as far as the file has it and its values are words, by what the file calls it."""
    headers = Headers.of(domain).columns
    named = {name for line in wishes.zeros for name in line[::2]} | {
        name for pair in wishes.follows for name in pair
    }
    with bundle.opened(name) as file:
        held = set(pd.read_csv(file, dtype=str, nrows=0).columns)
    for attribute in domain.attributes:
        is_in_words = isinstance(attribute, Categorical | Boolean)
        if is_in_words and attribute.name in named and headers[attribute.name] in held:
            yield headers[attribute.name], attribute


def _cells(bundle: Bundle, name: str, columns: dict[str, Attribute]) -> Iterator[np.ndarray]:
    """(n, columns) cells of the rows, -1 for a text that is none."""
    places = {
        column: {inert(text): cell for cell, text in enumerate(written(a, a.codes()))}
        for column, a in columns.items()
    }
    with bundle.opened(name) as file:
        frames = pd.read_csv(
            file, dtype=str, keep_default_na=False, usecols=list(columns), chunksize=_ROWS_READ
        )
        for frame in frames:
            yield np.column_stack(
                [frame[column].map(places[column]).fillna(-1).to_numpy(np.int64) for column in columns]
            )
