"""A data file of a download, and what is said of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Observed:
    """The columns of one estimate: itself, the ends of its interval, and its standard error if that has one.

    statistic: what is estimated, where a table has several.
    """

    value: str
    lower: str
    upper: str
    error: str = ""
    statistic: str = ""

    @property
    def columns(self) -> list[str]:
        return [name for name in (self.value, self.lower, self.upper, self.error) if name]


@dataclass(frozen=True)
class Table:
    """A data file of a bundle.

    fields: its columns as Frictionless fields, for a CSV that a data package describes. may_be_blank: whether a row
    can have nothing but missing values, which a reader must be told. has_independent_cells: whether each line has a
    noisy count with noise of its own, independent of the others. observed: the estimates of a table of counts or
    totals; every other column names what is counted, but for those aside.
    """

    path: Path
    about: str
    fields: Sequence[Mapping[str, object]] = ()
    may_be_blank: bool = False
    has_independent_cells: bool = False
    observed: Sequence[Observed] = ()
    aside: Sequence[str] = ()
