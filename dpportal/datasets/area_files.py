"""A file of areas for a column: read, and kept as the column's map."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from dpportal.accounts.models import User
from dpportal.charts.area_map import MOST_AREAS
from dpportal.datasets import geojson
from dpportal.datasets.area_map import declare_areas
from dpportal.datasets.declared import declared_of
from dpportal.datasets.models import Dataset
from dpportal.platform.visible_text import hidden_sign
from mechanisms.domain import Categorical

NOT_DECLARED = _("Declare the column's values first; then say which areas they are.")


@dataclass(frozen=True)
class TakenAreas:
    """known: how many values have an area; lacking: those that have none."""

    known: int
    lacking: list[str]


def take_areas(dataset: Dataset, column: str, content: bytes, credit: str, by: User) -> TakenAreas:
    """Give a column the map that a GeoJSON file has. Raises GeoJsonError."""
    if hidden := hidden_sign(credit):
        raise geojson.GeoJsonError(hidden)
    declared = declared_of(dataset).get(column)
    if not isinstance(declared, Categorical):
        raise geojson.GeoJsonError(str(NOT_DECLARED))
    if len(declared.values) > MOST_AREAS:
        text = _(
            "A map has at most %(most)s areas, and this column has %(values)s values. Declare fewer, larger areas."
        )
        raise geojson.GeoJsonError(text % {"most": f"{MOST_AREAS:,}", "values": f"{len(declared.values):,}"})
    read = geojson.read(content, [*declared.values, *declared.words])
    declare_areas(dataset, column, read, credit, by)
    words, known = declared.words or declared.values, set(read.shapes)
    pairs = zip(declared.values, words, strict=True)
    lacking = [value for value, word in pairs if not known & {value, word}]
    return TakenAreas(len(declared.values) - len(lacking), lacking)
