"""Known areas of a column: a GeoJSON file is read without any record, refused in words, and drawn on releases."""

from __future__ import annotations

import json
import time
import unicodedata
from typing import Any

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import QueryDict
from django.urls import reverse

from dpportal.charts.screens import for_screens
from dpportal.datasets import geojson
from dpportal.datasets.area_map import AreaMap
from dpportal.datasets.geojson import GeoJsonError
from dpportal.releases.products.histogram.reader_choices import ChartForm, figure
from mechanisms.box_queries import CellSum
from mechanisms.domain import Categorical, Domain, Integer

NAMES = ("red", "green", "blue")


def square(west: float, south: float, size: float = 1) -> list[list[float]]:
    east, north = west + size, south + size
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def feature(name: str, ring: Any, **properties: Any) -> dict[str, Any]:
    geometry = {"type": "Polygon", "coordinates": [ring]}
    return {"type": "Feature", "properties": {"NAME": name, **properties}, "geometry": geometry}


def file(*features: dict[str, Any]) -> bytes:
    return json.dumps({"type": "FeatureCollection", "features": features}).encode()


IN_A_ROW = file(*(feature(name, square(place, 0), code=place) for place, name in enumerate(NAMES)))


def test_areas_are_found_by_the_property_that_names_most_values() -> None:
    areas = geojson.read(IN_A_ROW, ["blue", "red", "2"])
    assert sorted(areas.shapes) == ["blue", "red"] and areas.width == pytest.approx(1000, abs=1)
    # Two squares of three are kept, with the gap between them: the last begins after two thirds.
    assert min(areas.shapes["blue"][0][::2]) == pytest.approx(2 / 3 * 1000, abs=1)


def test_names_are_compared_as_they_are_seen_where_only_one_is_meant() -> None:
    """Of a file that macOS wrote, or in capitals, no area was found, though it shows the very names."""
    apart = unicodedata.normalize("NFD", "Łódzkie Dolnośląskie")
    lodz, lower = apart.split()
    areas = geojson.read(
        file(feature(lodz, square(0, 0)), feature(lower.upper(), square(1, 0))), ["Łódzkie", "Dolnośląskie"]
    )
    assert set(areas.shapes) == {"Łódzkie", "Dolnośląskie"}
    # Two values, or two names, that are seen alike are not told apart; the same signs always are.
    two = file(feature("RED", square(0, 0)), feature("blue", square(1, 0)))
    assert set(geojson.read(two, ["red", "Red", "blue"]).shapes) == {"blue"}
    both = file(feature("RED", square(0, 0)), feature("red", square(1, 0)), feature("Blue", square(2, 0)))
    assert len(geojson.read(both, ["red", "blue"]).shapes["red"]) == 1


def test_degrees_of_longitude_are_as_wide_as_they_are_there() -> None:
    """At 60 degrees north they are half as wide as those of latitude are high."""
    areas = geojson.read(file(feature("red", square(10, 59.5))), NAMES)
    assert areas.width / areas.height == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"{", "no GeoJSON"),
        (b"[" * 100_000, "no GeoJSON"),
        (file(feature("rouge", square(0, 0))), "in none of its properties: NAME"),
        (file(feature("red", [[0, 0], ["a", 1]])), "EPSG:4326"),
        (file(feature("red", [[500_000, 5_000_000]])), "EPSG:4326"),
        (file({"properties": {"NAME": "red"}, "geometry": {"type": "Point"}}), "Polygon"),
        (file(feature("red", [])), "no outlines"),
        (file(feature("red", [{"x": 1}])), "EPSG:4326"),
        (file(feature("rouge", [], **{"\ud800": "a"})), "in none of its properties"),
        (b" " * (geojson.MAX_BYTES + 1), "larger than"),
    ],
)
def test_a_file_of_which_no_map_can_be_made_is_refused_in_words(content: bytes, why: str) -> None:
    with pytest.raises(GeoJsonError, match=why):
        geojson.read(content, NAMES)


def test_an_area_without_an_outline_is_left_out_of_the_map() -> None:
    areas = geojson.read(file(feature("red", square(0, 0)), feature("blue", [])), NAMES)
    assert set(areas.shapes) == {"red"}


def test_many_properties_take_no_longer_than_many_areas() -> None:
    """Each of a thousand areas has properties of its own: they are gone through once."""
    many = (
        feature(str(place), square(0, 0), **{f"p{place} {i}": "x" for i in range(20)})
        for place in range(1000)
    )
    begun = time.process_time()
    assert set(geojson.read(file(*many, feature("red", square(0, 0))), NAMES).shapes) == {"red"}
    assert time.process_time() - begun < 5


@pytest.mark.slow
def test_a_long_coast_is_thinned_to_what_a_chart_shows() -> None:
    angles = np.linspace(0, 2 * np.pi, 20_000)
    ring = np.column_stack([np.cos(angles), np.sin(angles)]).tolist()
    areas = geojson.read(file(feature("red", ring)), NAMES)
    assert 400 < len(areas.shapes["red"][0]) // 2 <= geojson.MAX_POINTS


def test_a_map_is_as_dark_as_the_count_and_says_which_values_it_lacks() -> None:
    colour = Categorical("colour", values=(*NAMES, "grey"), closed=True)
    domain = Domain((colour, Integer("age", lower=0, upper=1)))
    areas = geojson.read(IN_A_ROW, NAMES)
    counts = np.array([10, 10, 0, 50, 100, 100, 7, 7])
    form = ChartForm(domain, QueryDict("map=0"), {0: areas})
    assert list(form.fields) == ["map", "where-1"]
    drawn = figure(form, counts, lambda _picks: CellSum(0, 3.2, 1))
    by_name = {trace["name"]: trace for trace in drawn["json"]["data"]}
    assert by_name["blue"]["text"] == "blue: 200 ± 4 people"
    assert by_name["red"]["opacity"] < by_name["green"]["opacity"] < by_name["blue"]["opacity"]
    assert "Not on the map: grey." in drawn["caption"]
    picture = for_screens(drawn["json"])
    words = [text["text"] for text in picture["texts"]]
    assert "blue" in words and "5 to 49 people" in words and picture["narrow"]["height"] < picture["height"]
    one = figure(ChartForm(domain, QueryDict("map=0&where-1=0"), {0: areas}), counts, lambda _picks: None)
    assert one["json"]["data"][1]["text"] == "green: 0 people"


def test_a_release_of_areas_alone_begins_with_the_map() -> None:
    domain = Domain((Categorical("colour", values=NAMES, closed=True),))
    form = ChartForm(domain, QueryDict(), {0: geojson.read(IN_A_ROW, NAMES)})
    assert form.on_map == 0 and ChartForm(domain, QueryDict("map=none"), form.maps).on_map is None


@pytest.mark.slow
def test_a_curator_gives_a_column_its_map_and_takes_it_away(client, dataset) -> None:
    client.force_login(dataset.owner)
    page = reverse("datasets:column", args=[dataset.pk, 0])
    sent = {"areas": SimpleUploadedFile("a.geojson", file(feature("red", square(0, 0)))), "credit": "Survey"}
    answer = client.post(f"{page}areas/", sent, follow=True).text
    assert "1 of 3 values are areas" in answer and "called: green, blue." in answer
    assert AreaMap.objects.get().credit == "Survey"
    assert (
        "no GeoJSON"
        in client.post(f"{page}areas/", {"areas": SimpleUploadedFile("a", b"x")}, follow=True).text
    )
    client.post(f"{page}areas/", {"remove": "1"})
    assert not AreaMap.objects.exists()
