"""A data file of a download, and what is said of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mechanisms.tabular.sdmx import Observed
from mechanisms.tabular.sdmx_codes import EmptyFields


@dataclass(frozen=True)
class Table:
    """A data file of a bundle.

    fields: its columns as Frictionless fields, for a CSV that a data package describes. may_be_blank: whether a row
    can have nothing but missing values, which a reader must be told. has_independent_cells: whether each line has a
    noisy count with noise of its own, independent of the others. observed: the estimates of a table of counts or
    totals; every other column names what is counted, but for those aside. empty: what its empty fields stand for in the
    columns where that is not a missing value.
    """

    path: Path
    about: str
    fields: Sequence[Mapping[str, object]] = ()
    may_be_blank: bool = False
    has_independent_cells: bool = False
    observed: Sequence[Observed] = ()
    aside: Sequence[str] = ()
    empty: Mapping[str, EmptyFields] = field(default_factory=dict)
