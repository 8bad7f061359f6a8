"""A chart in a bundle is the page's own, by the painter of the page, as a file by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from dpportal.charts.static_svg import drawing
from dpportal.streams import execution
from dpportal.streams.chart_files import MAX_POINTS, chart_files, running_count_chart
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, Stream
from dpportal.streams.series import Series, published
from dpportal.streams.series_view import Chosen, series_chart
from tests.dpportal.streams import building

SVG = "{http://www.w3.org/2000/svg}"


def _published(stream: Stream, counts: tuple[int, ...]) -> Series:
    updates = [Update(at, (count,), Period.Source.TYPED) for at, count in enumerate(counts, 1)]
    execution.publish(stream.pk, updates, noise=building.repeated_noise())
    stream.refresh_from_db()
    series = published(stream)
    assert series is not None
    return series


def _written(stream: Stream, series: Series, folder: Path) -> ElementTree.Element:
    (file,) = chart_files(stream, series, folder)
    return ElementTree.fromstring(file.path.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_a_chart_in_a_bundle_has_the_lines_the_band_and_the_words_of_the_page(
    stream: Stream, tmp_path: Path
) -> None:
    series = _published(stream, (5, 3, 4, 0))
    root = _written(stream, series, tmp_path)
    shown = drawing(series_chart(series, Chosen((0,)), len(series.labels)).json)
    lines = [line.attrib["points"] for line in root.iter(f"{SVG}polyline")]
    assert lines == [line["points"] for line in (*shown["grid"], *shown["lines"])]
    assert [path.attrib["d"] for path in root.iter(f"{SVG}path")] == [area["path"] for area in shown["areas"]]
    words = {element.text for element in root.iter(f"{SVG}text")}
    assert {text["text"] for text in shown["texts"]} <= words


@pytest.mark.slow
def test_a_chart_needs_no_style_sheet_and_says_whose_it_is_without_an_address(
    stream: Stream, tmp_path: Path
) -> None:
    series = _published(stream, (5,))
    stream.name = "A <b> & c"
    root = _written(stream, series, tmp_path)
    assert next(root.iter(f"{SVG}text")).text == stream.name
    text = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert "var(" not in text and "<style" not in text and "href" not in text
    assert text.count("http") == 1  # the name of SVG itself
    source = next(e.text or "" for e in root.iter(f"{SVG}text") if "Source: " in (e.text or ""))
    assert stream.created_by.public_name in source and "Differentially private running count" in source


@pytest.mark.slow
def test_a_long_count_has_few_points_and_the_last(stream: Stream) -> None:
    series, many = _published(stream, (5,)), 1_000_000
    values = np.arange(many)
    long = replace(
        series,
        periods=values + 1,
        labels=[str(value) for value in values],
        released=values[:, None],
        half_widths=values * 0,
        standard_errors=values + 1.0,
        published_at=series.published_at * many,
    )
    figure = running_count_chart(long, 0)
    shown = figure.json["data"][-1]["x"]
    assert len(shown) <= MAX_POINTS and shown[-1] == str(many - 1)
    assert "of 1,000,000 periods are drawn" in figure.caption
