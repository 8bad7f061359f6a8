"""The cells of a download by name; of a column of codes the code, as in the curator's table, and its label."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from mechanisms.domain import Attribute, Boolean, Categorical, Domain
from mechanisms.tabular.headers import Headers

# To fifteen digits, all that a spreadsheet holds; with zeros in front it is no number but a name.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,14}")


@dataclass(frozen=True)
class LabelColumn:
    """A column of a file that names cells.

    axis: whose cells; labels: a text for each of them; title: of the axis. is_integer: whether the texts are integers.
    """

    name: str
    axis: int
    labels: list[str]
    title: str
    is_integer: bool = False

    def field(self) -> dict[str, str]:
        """As a Frictionless field."""
        kind = "integer" if self.is_integer else "string"
        return {"name": self.name, "type": kind, **titled(self.name, self.title)}


def titled(name: str, title: str) -> dict[str, str]:
    """The title of a field whose name in the files is not what the curator's table calls it."""
    return {} if name == title else {"title": title}


def label_columns(domain: Domain) -> list[LabelColumn]:
    """The columns that name the cells of a domain."""
    headers = Headers.of(domain)
    columns: list[LabelColumn] = []
    for axis, attribute in enumerate(domain.attributes):
        first = LabelColumn(
            headers.columns[attribute.name],
            axis,
            written(attribute, attribute.codes()),
            attribute.title or attribute.name,
            holds_integers(attribute),
        )
        columns.append(first)
        if attribute.name in headers.labels:
            labels = written(attribute, attribute.labels())
            label = headers.labels[attribute.name]
            columns.append(LabelColumn(label, axis, labels, attribute.title or attribute.name))
    return columns


def holds_integers(attribute: Attribute) -> bool:
    """Whether every declared value or code of a list, or of yes and no, is a whole number.

    Its column is one of numbers in every file then, as a spreadsheet and a program that reads the CSV file take it
    anyway; 007 is a text.
    """
    regular = attribute.codes()[: attribute.regular_size]
    return isinstance(attribute, Categorical | Boolean) and all(map(_INTEGER.fullmatch, regular))


def written(attribute: Attribute, texts: list[str]) -> list[str]:
    """A text for each cell as files have it: a missing value is an empty field, whatever pages call its cell."""
    return [*texts[: attribute.regular_size], *[""] * attribute.missing_cell]


def with_codes(frames: Iterator[pd.DataFrame], domain: Domain, headers: Headers) -> Iterator[pd.DataFrame]:
    """The same rows under the names of files: in each column of codes the code, and the label right after it.

    Codes that are whole numbers are numbers; missing values stay missing.
    """
    codes = {
        a.name: (
            dict(zip(a.labels(), a.codes(), strict=True)),
            pd.Int64Dtype() if holds_integers(a) else pd.StringDtype(),
        )
        for a in domain.attributes
        if a.name in headers.labels or holds_integers(a) or (isinstance(a, Boolean) and a.values)
    }
    truths = {
        a.name: dict(zip((False, True), a.regular_labels(), strict=True))
        for a in domain.attributes
        if isinstance(a, Boolean)
    }
    for frame in frames:
        for name, (code, kind) in codes.items():
            words = frame[name].map(truths[name]).astype("string") if name in truths else frame[name]
            frame[name] = words.map(code).astype("string").astype(kind)
            if name in headers.labels:
                frame.insert(list(frame.columns).index(name) + 1, headers.labels[name], words)
        yield frame.rename(columns=headers.columns)
