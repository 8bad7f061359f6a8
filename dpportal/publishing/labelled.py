"""The cells of a download by name; of a column of codes the code, as in the curator's table, and its label."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from mechanisms.domain import Attribute, Categorical, Domain


@dataclass(frozen=True)
class LabelColumn:
    """A column of a file that names cells. axis: whose cells; labels: a text for each of them."""

    name: str
    axis: int
    labels: list[str]


def label_columns(domain: Domain, reserved: Collection[str] = ()) -> list[LabelColumn]:
    """The columns that name the cells of a domain; renamed where they would clash with the numbers beside them."""
    taken = {*domain.names, *reserved}
    found: list[LabelColumn] = []
    for axis, attribute in enumerate(domain.attributes):
        name = f"{attribute.name} (column)" if attribute.name in reserved else attribute.name
        if isinstance(attribute, Categorical) and attribute.has_codes:
            found.append(LabelColumn(name, axis, attribute.codes()))
            name = _free(f"{attribute.name}_label", taken)
        found.append(LabelColumn(name, axis, attribute.labels()))
    return found


def names_of_labels(domain: Domain) -> dict[str, str]:
    """What the column of its labels is called, for each column of codes."""
    neighbours = pairwise(label_columns(domain))
    return {code.name: label.name for code, label in neighbours if code.axis == label.axis}


def with_codes(frames: Iterator[pd.DataFrame], domain: Domain) -> Iterator[pd.DataFrame]:
    """The same rows with the code in each column of codes, and the label right after it; missing values stay so."""
    named = names_of_labels(domain)
    codes = {a.name: _codes_by_label(a) for a in domain.attributes if a.name in named}
    for frame in frames:
        for name, code in codes.items():
            words = frame[name]
            frame[name] = words.map(code).astype("string")
            frame.insert(list(frame.columns).index(name) + 1, named[name], words)
        yield frame


def _codes_by_label(attribute: Attribute) -> dict[str, str]:
    assert isinstance(attribute, Categorical)
    return dict(zip(attribute.labels(), attribute.codes(), strict=True))


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name
