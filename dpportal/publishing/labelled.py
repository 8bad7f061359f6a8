"""The cells of a download by name; of a column of codes the code, as in the curator's table, and its label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from dpportal.publishing.headers import Headers
from mechanisms.domain import Attribute, Categorical, Domain


@dataclass(frozen=True)
class LabelColumn:
    """A column of a file that names cells. axis: whose cells; labels: a text for each of them; title: of the axis."""

    name: str
    axis: int
    labels: list[str]
    title: str

    def field(self) -> dict[str, str]:
        """As a Frictionless field."""
        return {"name": self.name, "type": "string", **titled(self.name, self.title)}


def titled(name: str, title: str) -> dict[str, str]:
    """The title of a field whose name in the files is not what the curator's table calls it."""
    return {} if name == title else {"title": title}


def label_columns(domain: Domain) -> list[LabelColumn]:
    """The columns that name the cells of a domain."""
    headers = Headers.of(domain)
    found: list[LabelColumn] = []
    for axis, attribute in enumerate(domain.attributes):
        name = headers.columns[attribute.name]
        if isinstance(attribute, Categorical) and attribute.has_codes:
            found.append(LabelColumn(name, axis, written(attribute, attribute.codes()), attribute.name))
            name = headers.labels[attribute.name]
        found.append(LabelColumn(name, axis, written(attribute, attribute.labels()), attribute.name))
    return found


def written(attribute: Attribute, texts: list[str]) -> list[str]:
    """A text for each cell as files have it: a missing value is an empty field, whatever pages call its cell."""
    return [*texts[: attribute.regular_size], *[""] * attribute.missing_cell]


def with_codes(frames: Iterator[pd.DataFrame], domain: Domain, headers: Headers) -> Iterator[pd.DataFrame]:
    """The same rows under the names of files: in each column of codes the code, and the label right after it.

    Missing values stay so.
    """
    codes = {a.name: _codes_by_label(a) for a in domain.attributes if a.name in headers.labels}
    for frame in frames:
        for name, code in codes.items():
            words = frame[name]
            frame[name] = words.map(code).astype("string")
            frame.insert(list(frame.columns).index(name) + 1, headers.labels[name], words)
        yield frame.rename(columns=headers.columns)


def _codes_by_label(attribute: Attribute) -> dict[str, str]:
    assert isinstance(attribute, Categorical)
    return dict(zip(attribute.labels(), attribute.codes(), strict=True))
