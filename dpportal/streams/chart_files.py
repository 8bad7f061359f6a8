"""Charts of a running count as files: each an SVG that opens anywhere, prints well and needs no script."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

from dpportal.charts.static_svg import drawing
from dpportal.charts.style import Figure
from dpportal.publications.archive import BundleFile
from dpportal.publications.metadata import Metadata, kind_text
from dpportal.publications.pictures import picture
from dpportal.streams.models import Stream
from dpportal.streams.series import Series, kind_of, unit_of
from dpportal.streams.series_view import Chosen, series_chart
from dpportal.value_choices.disclosure import PublishedLoss

# Of how many running counts a bundle has charts, and how many periods one shows.
MAX_CHARTS, MAX_POINTS = 20, 2_000


def chart_files(stream: Stream, series: Series, folder: Path) -> list[BundleFile]:
    """Write a chart of each of the first running counts."""
    shown, metadata = replace(series, unit=unit_of(stream)), _metadata(stream, series)
    files = []
    for place, name in enumerate(_names(stream)):
        figure = asdict(running_count_chart(shown, place))
        path, label = folder / name, series.names[place]
        path.write_text(picture({**figure, "drawing": drawing(figure["json"])}, metadata), encoding="utf-8")
        files.append(BundleFile(path, f"Chart: {label}" if label else "Chart"))
    return files


def running_count_chart(series: Series, place: int) -> Figure:
    """The chart that the page has of this running count alone, in a file: at most MAX_POINTS of its periods."""
    return series_chart(series.evenly_spaced(MAX_POINTS), Chosen((place,)), len(series.labels))


def _names(stream: Stream) -> list[str]:
    if len(stream.labels) == 1:
        return ["chart.svg"]
    return [f"chart-{place:02d}.svg" for place in range(1, min(len(stream.labels), MAX_CHARTS) + 1)]


def _metadata(stream: Stream, series: Series) -> Metadata:
    """What a chart says of its source. A bundle knows no address: it is the same wherever it lies."""
    return Metadata(
        title=stream.name,
        kind=kind_text(stream, kind_of(), str(PublishedLoss.of(stream))),
        author=stream.created_by.public_name,
        published=series.last_published_at.date(),
        address="",
        identifier=str(stream.pk),
        about=stream.dataset.about,
    )
