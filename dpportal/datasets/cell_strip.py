"""A picture of a column's declared cells as one strip of boxes; drawn from the declaration, never from data."""

from __future__ import annotations

from dataclasses import dataclass

from dpportal.charts.cell_names import cell_name, named
from mechanisms.domain import MISSING_LABEL, Attribute, Date, Integer, Real

MAX_BOXES = 200
MAX_NAMES = 16
MISSING_PERCENT = 6.0
# A single value has no width, or next to none: its box is drawn so wide, over its neighbours.
SINGLE_PERCENT = 0.8


@dataclass(frozen=True)
class Box:
    """A cell, or several neighbours where a column has many; x and width in percent of the strip."""

    label: str
    x: float
    width: float
    missing: bool = False
    single: bool = False


@dataclass(frozen=True)
class Strip:
    """The boxes, single values last; how many cells one stands for at most, and the first cells' names."""

    boxes: list[Box]
    cells_in_a_box: int
    names: list[str]
    names_left_out: int


def strip(attribute: Attribute) -> Strip:
    """The strip of a declared column: numbers to scale, everything else in equal boxes."""
    size = attribute.regular_size
    run = -(-size // MAX_BOXES)
    runs = [(first, min(first + run, size) - 1) for first in range(0, size, run)]
    room = 100.0 - MISSING_PERCENT if attribute.missing_cell else 100.0
    labels = _labels(attribute, runs)
    places = _places(attribute, runs, room)
    boxes = [Box(label, x, width) for label, (x, width) in zip(labels, places, strict=True)]
    if run == 1 and isinstance(attribute, Integer | Real):
        for cell in attribute.single_cells:
            boxes[cell] = _single(boxes[cell], room)
    if attribute.missing_cell:
        boxes.append(Box(cell_name(MISSING_LABEL), room + 1, MISSING_PERCENT - 1, missing=True))
    names = [box.label for box in boxes]
    return Strip(
        sorted(boxes, key=lambda box: box.single),
        run,
        names[:MAX_NAMES],
        max(0, len(names) - MAX_NAMES) if run == 1 else 0,
    )


def _single(box: Box, room: float) -> Box:
    """The box of a single value, wide enough to be seen."""
    width = max(box.width, SINGLE_PERCENT)
    return Box(box.label, min(box.x, room - width), width, single=True)


def _labels(attribute: Attribute, runs: list[tuple[int, int]]) -> list[str]:
    """The label of each run, without writing out the labels of a very long column."""
    if len(runs) == attribute.regular_size or not isinstance(attribute, Integer | Real | Date):
        labels = named(attribute.regular_labels())
        return [labels[a] if a == b else f"{labels[a]} … {labels[b]}" for a, b in runs]
    return [f"{attribute.bounds(a)[0]} … {attribute.bounds(b)[1]}" for a, b in runs]


def _places(attribute: Attribute, runs: list[tuple[int, int]], room: float) -> list[tuple[float, float]]:
    """Left end and width of each run in percent; whole numbers reach half a step to either side."""
    if not isinstance(attribute, Integer | Real):
        return [(i * room / len(runs), room / len(runs)) for i in range(len(runs))]
    step = 1 if isinstance(attribute, Integer) else 0
    lower = attribute.bounds(runs[0][0])[0]
    reach = attribute.bounds(runs[-1][1])[1] + step - lower
    ends = [(attribute.bounds(a)[0] - lower, attribute.bounds(b)[1] + step - lower) for a, b in runs]
    return [(room * (start / reach), room * ((end - start) / reach)) for start, end in ends]
