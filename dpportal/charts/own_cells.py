"""Cells that the portal adds to a column, “Other” and “Missing”: drawn only where released numbers show somebody.

Along an order they have no place: no line or row of many bars goes on to them as if they were the next age. Where such
an axis has no label for each cell, a sentence has their numbers instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_name
from dpportal.platform.listed_names import joint, listed
from mechanisms.arrays import Floats
from mechanisms.domain import Attribute, Categorical

# Without a margin, such a share of all shows nobody.
NEARLY_NOBODY = 0.01


@dataclass(frozen=True)
class ShownCells:
    """attributes: as they are drawn. places: of each one's cells among those released. caption: what is not."""

    attributes: tuple[Attribute, ...]
    places: tuple[np.ndarray, ...]
    caption: str

    def of(self, released: np.ndarray) -> np.ndarray:
        """released: a number for each cell of the columns before, and of any after them."""
        others = map(np.arange, released.shape[len(self.places) :])
        shown: np.ndarray = released[np.ix_(*self.places, *others)]
        return shown


def own_cells(attribute: Attribute) -> list[int]:
    """Those that nobody declared as a value."""
    undeclared = attribute.undeclared if isinstance(attribute, Categorical) else None
    missing = attribute.regular_size if attribute.missing_cell else None
    return [cell for cell in (undeclared, missing) if cell is not None]


def cells_to_show(
    attributes: Sequence[Attribute], values: Floats, margins: Sequence[int | None]
) -> ShownCells:
    """values: noisy counts by these columns, and any after them. margins: of the sum of a cell of each."""
    shown, places, left = [], [], []
    for axis, (attribute, margin) in enumerate(zip(attributes, margins, strict=True)):
        totals = values.sum(axis=tuple(other for other in range(values.ndim) if other != axis))
        empty = _empty(attribute, totals, margin)
        labels = attribute.labels() if empty else []
        left += [f"{cell_name(labels[cell])} ({attribute.shown_name})" for cell in empty]
        shown.append(_without_cells(attribute, empty))
        places.append(np.setdiff1d(np.arange(attribute.size), empty))
    return ShownCells(tuple(shown), tuple(places), _caption(left))


def cells_in_order(attributes: Sequence[Attribute], axis: int, caption: str) -> ShownCells:
    """Without the portal's own cells of the ordered column of that place. caption: what is not drawn."""
    left = own_cells(attributes[axis])
    places = [np.arange(attribute.size) for attribute in attributes]
    places[axis] = np.setdiff1d(places[axis], left)
    shown = [_without_cells(each, left if place == axis else []) for place, each in enumerate(attributes)]
    return ShownCells(tuple(shown), tuple(places), caption)


def own_cells_sentence(
    attribute: Attribute, groups: Sequence[str], values: Floats, margins: Floats | int | None, unit: str = ""
) -> str:
    """A sentence with the numbers of the portal's own cells, which have no place in a column's order.

    groups: their names, one empty one where there are none. values: (cells, groups). margins: of each, of all, or None.
    unit: after a number that is no count. Empty where the column has no such cells.
    """
    cells = own_cells(attribute)
    if not cells:
        return ""
    each = np.full(values.shape, np.nan if margins is None else margins)
    labels, parts = attribute.labels(), []
    for cell in cells:
        of_cell = zip(groups, values[cell].tolist(), each[cell].tolist(), strict=True)
        numbers = listed(_number(name, value, margin, unit) for name, value, margin in of_cell)
        mark = joint(":") if any(groups) else " "
        parts.append(f"{cell_name(labels[cell])}{mark}{numbers}")
    text = _("Not drawn, since it has no place in the order of %(column)s – %(cells)s.")
    return text % {"column": attribute.shown_name, "cells": joint(";").join(parts)}


def _number(name: str, value: float, margin: float, unit: str) -> str:
    """margin: NaN where there is none."""
    written = "{:,g}" if unit else "{:,.0f}"
    number = written.format(value).replace("-", "\N{MINUS SIGN}")
    shown = f"{number}{unit}" if math.isnan(margin) else f"{number} ± {written.format(margin)}{unit}"
    return f"{name} {shown}".strip()


def _empty(attribute: Attribute, totals: Floats, margin: int | None) -> list[int]:
    """The portal's own cells whose interval reaches down to nobody."""
    bound = NEARLY_NOBODY * totals.sum() if margin is None else margin
    return [cell for cell in own_cells(attribute) if totals[cell] <= bound]


def _without_cells(attribute: Attribute, cells: Sequence[int]) -> Attribute:
    """The same without some of the portal's own cells."""
    if attribute.missing_cell and attribute.regular_size in cells:
        attribute = replace(attribute, missing_cell=False)
    if isinstance(attribute, Categorical) and attribute.undeclared in cells:
        return replace(attribute, closed=True)
    return attribute


def _caption(names: Sequence[str]) -> str:
    if not names:
        return ""
    text = _("Left out of the chart, as these may have nobody: %(cells)s. The table has them.")
    return text % {"cells": listed(names)}
