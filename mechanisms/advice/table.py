"""What was measured on drawn tables: shipped with the package, read once."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.advice.answers import PURPOSES
from mechanisms.arrays import Floats
from mechanisms.domain import Domain

FILE = "measured.csv"
# The file has a hundred times the natural logarithm of a ratio.
_PER_CENT = 100
# Nothing is said to be worse than e^6 = 400 times the best.
WORST = 6.0
# How far a drawn table may be from the asked one and still count, in standard deviations of natural logarithms.
NEAR_STRENGTH, NEAR_CELLS = 0.6, 0.7


@dataclass(frozen=True)
class Trials:
    """The drawn tables of one number of columns and one kind of loss, k of them.

    cells: (k,) numbers of cells. strength: (k,) n·ε. statistics: (k, j) of `histogram.unevenness`, in rows times ε.
    ratios: by purpose and method, (k,) natural logarithms of (its error / the best method's); nan if not measured.
    """

    cells: Floats
    strength: Floats
    statistics: Floats
    ratios: Mapping[str, Mapping[str, Floats]]

    def log_nearness(self, cells: float, strength: float, spread: float = 0.0) -> Floats:
        """(k,) logarithms of the drawn tables' weights for a question; beyond what was drawn, those of the edge.

        spread: the standard error of the logarithm of the strength, where that is not known exactly.
        """
        variance = NEAR_STRENGTH**2 + spread**2
        return (
            -(_gaps(cells, self.cells) ** 2 / NEAR_CELLS**2 + _gaps(strength, self.strength) ** 2 / variance)
            / 2
        )


@dataclass(frozen=True)
class Checked:
    """How good the advice was on tables drawn afterwards.

    tables: how many. low, high: geometric means of (the advised method's error / the best method's), where the best one
    is named by other releases of the table than those that judge it, which is a little too small, and by the same
    ones, which is a little too large. tenth: one in ten tables had a larger ratio of the first kind than this.
    """

    tables: int
    low: float
    high: float
    tenth: float


def _gaps(value: float, known: Floats) -> Floats:
    """(k,) differences of logarithms to known values, from the nearest of them if the value lies beyond them."""
    gaps: Floats = np.log(np.clip(value, known.min(), known.max())) - np.log(known)
    return gaps


def weights(logs: Floats) -> Floats:
    """(k,) weights from their logarithms, the largest one 1."""
    relative: Floats = np.exp(logs - logs.max())
    return relative


def columns_of(domain: Domain) -> int:
    """1 or 2: whether tables of one or of two columns stand for a domain, by its columns of more than one cell."""
    return 1 if sum(width > 1 for width in domain.shape) < 2 else 2


@cache
def trials(columns: int, definition: Definition) -> Trials:
    """What was measured on tables of 1 or 2 columns under a kind of loss."""
    return _trials([row for row in _lines("drawn") if row[:2] == [str(columns), definition.value]], _heads())


@cache
def checked(columns: int, definition: Definition, purpose: str) -> Checked:
    """How good the advice was, for one purpose."""
    (line,) = (row for row in _lines("checked") if row[:3] == [str(columns), definition.value, purpose])
    return Checked(int(line[3]), *(float(figure) for figure in line[4:]))


def _lines(kind: str) -> Iterator[list[str]]:
    """The file's lines of a kind, without the kind; lines that begin with # are for readers."""
    text = (files("mechanisms.advice") / FILE).read_text(encoding="utf-8")
    rows = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    return (row[1:] for row in rows if row[0] == kind)


def _heads() -> list[str]:
    (heads,) = _lines("head")
    return heads


def _trials(rows: list[list[str]], heads: list[str]) -> Trials:
    values = np.array([[float(v) if v else math.nan for v in row[2:]] for row in rows])
    column = dict(zip(heads[2:], values.T, strict=True))
    statistics = [name for name in column if name.startswith("statistic ")]
    return Trials(
        cells=column["cells"],
        strength=column["strength"],
        statistics=np.stack([column[name] for name in statistics], axis=1),
        ratios={
            purpose: {
                name.removeprefix(f"{purpose} "): values / _PER_CENT
                for name, values in column.items()
                if name.startswith(f"{purpose} ") and not np.isnan(values).all()
            }
            for purpose in PURPOSES
        },
    )


def head(methods: Iterable[str], statistics: int) -> list[str]:
    """The names of a drawn table's fields in the file."""
    named = [f"statistic {i + 1}" for i in range(statistics)]
    ratios = [f"{purpose} {method}" for purpose in PURPOSES for method in methods]
    return ["head", "columns", "definition", "cells", "strength", *named, *ratios]
