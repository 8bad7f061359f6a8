"""Of many values without an order those with most people, the largest first: no more than a reader goes through."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext as _

from dpportal.charts.cell_names import cell_names
from dpportal.charts.lying_bars import MANY, WINDOW, names_fit
from dpportal.charts.own_cells import ShownCells
from mechanisms.arrays import Floats
from mechanisms.domain import Attribute, Categorical, Domain
from mechanisms.verify.chart_orders import largest_places

# Up to so many values stand as they were declared, however long their names are: an order may be meant.
FEW = 8


def is_long(attribute: Attribute) -> bool:
    """Whether a column's values are sorted unless a reader chooses otherwise."""
    if attribute.ordered or attribute.size <= FEW:
        return False
    return attribute.size > MANY or not names_fit(cell_names(attribute), WINDOW)


def largest(totals: Floats, groups: int = 1) -> list[int]:
    """The places of the values that are drawn. totals: of each value. groups: bars of each."""
    places: list[int] = largest_places(totals, groups).tolist()
    return places


def largest_caption(shown: int, values: int) -> str:
    """That not all are drawn; empty where they are."""
    text = _("The %(shown)s largest of %(groups)s groups are drawn; all are in the table.")
    return text % {"shown": shown, "groups": values} if shown < values else ""


def largest_cells(domain: Domain, axis: int, values: np.ndarray) -> ShownCells:
    """Of one or two columns those cells that are drawn. axis: of the values that are sorted. values: noisy counts."""
    attribute = domain.attributes[axis]
    totals = values.sum(axis=tuple(other for other in range(values.ndim) if other != axis))
    places = largest(totals, domain.size // attribute.size)
    names = attribute.labels()
    shown = Categorical(
        attribute.name, values=tuple(names[place] for place in places), closed=True, title=attribute.title
    )
    others = [np.arange(size) for size in domain.shape]
    return ShownCells(
        tuple(shown if place == axis else other for place, other in enumerate(domain.attributes)),
        tuple(np.array(places) if place == axis else own for place, own in enumerate(others)),
        largest_caption(len(places), attribute.size),
    )
