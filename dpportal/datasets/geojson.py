"""Outlines of known areas from a GeoJSON file: checked, projected to a plane, and thinned to what a chart can show."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from dpportal.charts.area_map import Areas
from dpportal.tables.facts import as_seen

MAX_BYTES, MAX_FEATURES, MAX_POINTS = 8 * 2**20, 5_000, 12_000
# The longer side of all areas together, in steps in which their outlines are kept.
SIDE = 1_000
Point = tuple[float, float]


class GeoJsonError(Exception):
    """A file of which no map can be made; the message says why and what to do."""


def read(content: bytes, values: Sequence[str]) -> Areas:
    """The areas of a file whose names are among `values`, by the property that names most of them.

    Only declarations and the file decide, no record. Raises GeoJsonError.
    """
    features = _features(content)
    named = _naming(features, set(values))
    if not named:
        text = _(
            "No area of the file is called like a declared value, in none of its properties: %(properties)s. Declare "
            "the values as the file names its areas."
        )
        properties = ", ".join(sorted(_keys(features)))[:200] or "–"
        # A file may hold half of a sign.
        raise GeoJsonError(text % {"properties": properties.encode(errors="replace").decode()})
    outlines: dict[str, list[list[Point]]] = {}
    for name, feature in named:
        outlines.setdefault(name, []).extend(_rings(feature.get("geometry")))
    return _in_plane(outlines)


def _features(content: bytes) -> list[dict[str, Any]]:
    if len(content) > MAX_BYTES:
        raise GeoJsonError(
            _("The file is larger than %(limit)s MB. Simplify its outlines, for instance at mapshaper.org.")
            % {"limit": MAX_BYTES // 2**20}
        )
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        read = None
    features = read.get("features") if isinstance(read, dict) else None
    if not isinstance(features, list) or not all(isinstance(feature, dict) for feature in features):
        raise GeoJsonError(
            _("This is no GeoJSON file with a list of “features”. Export the areas as GeoJSON.")
        )
    if len(features) > MAX_FEATURES:
        text = _("The file has more than %(limit)s areas. Take those of the declared values alone.")
        raise GeoJsonError(text % {"limit": f"{MAX_FEATURES:,}"})
    return features


def _properties(feature: dict[str, Any]) -> dict[str, str]:
    own = feature.get("properties")
    known = {**(own if isinstance(own, dict) else {}), "id": feature.get("id")}
    return {str(key): str(value).strip() for key, value in known.items() if isinstance(value, str | int)}


def _keys(features: Sequence[dict[str, Any]]) -> set[str]:
    return {key for feature in features for key in _properties(feature)}


def _naming(features: Sequence[dict[str, Any]], values: set[str]) -> list[tuple[str, dict[str, Any]]]:
    """The features that the property names which names most of the values, each with the value."""
    named: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for feature in features:
        for key, name in _properties(feature).items():
            named.setdefault(key, []).append((name, feature))
    known = (_with_values(named[key], values) for key in sorted(named))
    return max(known, key=lambda own: len({value for value, _feature in own}), default=[])


def _with_values(
    named: Sequence[tuple[str, dict[str, Any]]], values: set[str]
) -> list[tuple[str, dict[str, Any]]]:
    """Features with their values: of the same signs, or else of the only name and value that are seen alike."""
    names = {name for name, _feature in named}
    alike = {name: name for name in names & values}
    left = _by_looks(values - names)
    for look, own in _by_looks(names - values).items():
        if len(own) == len(left.get(look, ())) == 1:
            alike[own[0]] = left[look][0]
    return [(alike[name], feature) for name, feature in named if name in alike]


def _by_looks(names: set[str]) -> dict[str, list[str]]:
    looks: dict[str, list[str]] = {}
    for name in names:
        looks.setdefault(as_seen(name), []).append(name)
    return looks


def _rings(geometry: object) -> Iterator[list[Point]]:
    """Of a polygon or of several. Raises GeoJsonError."""
    kind, parts = (
        (geometry.get("type"), geometry.get("coordinates")) if isinstance(geometry, dict) else ("", None)
    )
    if kind == "Polygon":
        parts = [parts]
    elif kind != "MultiPolygon":
        raise GeoJsonError(
            _("An area is neither a Polygon nor a MultiPolygon. Export the areas as polygons.")
        )
    try:
        for polygon in parts or ():
            for ring in polygon:
                yield [_point(place) for place in ring]
    except (TypeError, ValueError, LookupError, OverflowError):
        raise GeoJsonError(
            _(
                "A point of the file is no longitude and latitude in degrees. Export the areas in WGS 84, which is "
                "EPSG:4326."
            )
        ) from None


def _point(place: Sequence[float]) -> Point:
    longitude, latitude = float(place[0]), float(place[1])
    if not (abs(longitude) <= 360 and abs(latitude) <= 90):
        raise ValueError
    return longitude, latitude


def _in_plane(outlines: dict[str, list[list[Point]]]) -> Areas:
    """Longitudes as wide as they are in the middle of all areas, north on top, in whole steps of SIDE."""
    points = [point for rings in outlines.values() for ring in rings for point in ring]
    if not points:
        raise GeoJsonError(
            _("The areas of the file have no outlines. Export them as polygons with coordinates.")
        )
    west, east = min(x for x, _y in points), max(x for x, _y in points)
    south, north = min(y for _x, y in points), max(y for _x, y in points)
    narrow = max(0.05, math.cos(math.radians((south + north) / 2)))
    scale = SIDE / max((east - west) * narrow, north - south, 1e-9)
    flat = {
        name: [[((x - west) * narrow * scale, (north - y) * scale) for x, y in ring] for ring in rings]
        for name, rings in outlines.items()
    }
    return Areas(
        width=max(1, round((east - west) * narrow * scale)),
        height=max(1, round((north - south) * scale)),
        shapes=_thinned(flat),
    )


def _thinned(flat: dict[str, list[list[Point]]]) -> dict[str, list[list[int]]]:
    """With as few points as a chart needs: further apart, the more there are."""
    for apart in (1, 2, 4, 8, 16):
        thin = {name: _simplified(rings, apart) for name, rings in flat.items()}
        shapes = {name: rings for name, rings in thin.items() if rings}
        if sum(len(ring) // 2 for rings in shapes.values() for ring in rings) <= MAX_POINTS:
            return shapes
    raise GeoJsonError(_("The outlines have too many points. Simplify them, for instance at mapshaper.org."))


def _simplified(rings: list[list[Point]], apart: int) -> list[list[int]]:
    """Rings without points nearer to the last than `apart`; where all are too small to see, the largest."""
    thin = [_ring(ring, apart) for ring in rings if ring]
    seen = [ring for ring in thin if len(ring) >= 6]
    return seen or ([max(thin, key=len)] if thin else [])


def _ring(ring: list[Point], apart: int) -> list[int]:
    points: list[int] = []
    for x, y in ring:
        if not points or abs(x - points[-2]) >= apart or abs(y - points[-1]) >= apart:
            points += [round(x), round(y)]
    return points
