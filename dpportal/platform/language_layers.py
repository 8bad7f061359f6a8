"""JSON that a worker makes once for readers of every language: numbers once, and the texts of each other language.

A worker does not know who will read. What it makes is made in each language, and of the others only what differs is
stored, as a layer that is laid over the first when a page shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils import translation

from dpportal.platform.json_types import Json

LAYERS = "languages"
# Stands before a value that takes another's place.
_INSTEAD = "="


def languages() -> list[str]:
    """The codes of all languages, the site's first."""
    codes = [code for code, _name in settings.LANGUAGES]
    return sorted(codes, key=lambda code: code != settings.LANGUAGE_CODE)


def layered(texts: Mapping[str, Json]) -> Json:
    """One of what was made in each language, by its code: the site's, with a layer for each that says anything else."""
    first = texts[settings.LANGUAGE_CODE]
    layers = {code: _difference(first, other) for code, other in texts.items() if other is not first}
    present = {code: layer for code, layer in layers.items() if layer is not None}
    return {**first, LAYERS: present} if present else first


def in_reader_language(stored: Json) -> Json:
    """What was made, in the language of the page; that of the site where it was made before there was another."""
    first = {name: value for name, value in stored.items() if name != LAYERS}
    layer = stored.get(LAYERS, {}).get(translation.get_language())
    shown: Json = first if layer is None else _laid(first, layer)
    return shown


def _difference(first: Any, other: Any) -> Any:
    """None if they are alike; of objects and lists of one shape the differences of what they hold.

    What the other lacks was not made again, and is the first's.
    """
    if isinstance(first, dict) and isinstance(other, dict):
        return _differing(
            {key: _difference(first[key], value) for key, value in other.items() if key in first}
        )
    if isinstance(first, list | tuple) and isinstance(other, list | tuple) and len(first) == len(other):
        if not any(isinstance(value, str | dict | list | tuple) for value in first):
            return None
        pairs = enumerate(zip(first, other, strict=True))
        return _differing({str(place): _difference(*pair) for place, pair in pairs})
    return None if type(first) is type(other) and first == other else [_INSTEAD, other]


def _differing(differences: dict[str, Any]) -> dict[str, Any] | None:
    return {key: value for key, value in differences.items() if value is not None} or None


def _laid(first: Any, layer: Any) -> Any:
    if isinstance(layer, list):
        return layer[1]
    if isinstance(first, list | tuple):
        return [
            _laid(value, layer[str(place)]) if str(place) in layer else value
            for place, value in enumerate(first)
        ]
    return {key: _laid(value, layer[key]) if key in layer else value for key, value in first.items()}
