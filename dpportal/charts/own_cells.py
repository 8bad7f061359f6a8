"""Cells that the portal adds to a column, “Other” and “Missing”: drawn only where released numbers show somebody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_name
from dpportal.platform.listed_names import listed
from mechanisms.arrays import Floats
from mechanisms.domain import Attribute, Categorical

# Without a margin, such a share of all shows nobody.
NEARLY_NOBODY = 0.01


@dataclass(frozen=True)
class DrawnCells:
    """attributes: as they are drawn. places: of each one's cells among those released. caption: what is not."""

    attributes: tuple[Attribute, ...]
    places: tuple[np.ndarray, ...]
    caption: str

    def of(self, released: np.ndarray) -> np.ndarray:
        """released: a number for each cell of the columns before, and of any after them."""
        others = map(np.arange, released.shape[len(self.places) :])
        drawn: np.ndarray = released[np.ix_(*self.places, *others)]
        return drawn


def own_cells(attribute: Attribute) -> list[int]:
    """Those that nobody declared as a value."""
    undeclared = attribute.undeclared if isinstance(attribute, Categorical) else None
    missing = attribute.regular_size if attribute.missing_cell else None
    return [cell for cell in (undeclared, missing) if cell is not None]


def drawn_cells(attributes: Sequence[Attribute], values: Floats, margins: Sequence[int | None]) -> DrawnCells:
    """values: noisy counts by these columns, and any after them. margins: of the sum of a cell of each."""
    drawn, places, left = [], [], []
    for axis, (attribute, margin) in enumerate(zip(attributes, margins, strict=True)):
        totals = values.sum(axis=tuple(other for other in range(values.ndim) if other != axis))
        empty = _empty(attribute, totals, margin)
        labels = attribute.labels() if empty else []
        left += [f"{cell_name(labels[cell])} ({attribute.shown_name})" for cell in empty]
        drawn.append(_without(attribute, empty))
        places.append(np.setdiff1d(np.arange(attribute.size), empty))
    return DrawnCells(tuple(drawn), tuple(places), _caption(left))


def _empty(attribute: Attribute, totals: Floats, margin: int | None) -> list[int]:
    """The portal's own cells whose interval reaches down to nobody."""
    bound = NEARLY_NOBODY * totals.sum() if margin is None else margin
    return [cell for cell in own_cells(attribute) if totals[cell] <= bound]


def _without(attribute: Attribute, cells: Sequence[int]) -> Attribute:
    """The same without some of the portal's own cells."""
    if attribute.missing_cell and attribute.regular_size in cells:
        attribute = replace(attribute, missing_cell=False)
    if isinstance(attribute, Categorical) and attribute.undeclared in cells:
        return replace(attribute, closed=True)
    return attribute


def _caption(names: Sequence[str]) -> str:
    if not names:
        return ""
    text = _("Not drawn, since perhaps nobody is there: %(cells)s; the table has them.")
    return text % {"cells": listed(names)}
