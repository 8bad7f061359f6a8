"""Small pictures of what is published: drawn by workers, of nothing else, anew when a running count has grown."""

from __future__ import annotations

import numpy as np
import pytest
from django.utils import timezone

from dpportal.catalogue import thumbnails
from dpportal.catalogue.thumbnails import THUMBNAILS
from dpportal.charts.area_map import Areas, area_figure
from dpportal.charts.thumbnail import HEIGHT, MOST_BARS, WIDTH, thumbnail
from dpportal.datasets.area_map import declare_areas, remove_areas
from dpportal.releases import services
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period, Stream
from tests.dpportal.releases.products.building import finished
from tests.dpportal.streams import building as streams

PAGE = "/published/"


def drawn() -> None:
    for picture in THUMBNAILS.jobs().filter(state="queued"):
        THUMBNAILS.run(picture.pk)


@pytest.mark.slow
def test_a_release_has_its_kind_until_a_worker_has_drawn_it(
    client, ready, django_capture_on_commit_callbacks
):
    """The picture is asked for by publishing, not only by the first reader."""
    with django_capture_on_commit_callbacks(execute=True):
        services.publish(ready, ready.created_by)
    assert THUMBNAILS.jobs().count() == 1
    before = client.get(PAGE).text
    assert 'class="thumbnail kind"' in before and 'role="img"' not in before
    client.get(PAGE)
    assert THUMBNAILS.jobs().count() == 1
    drawn()
    after = client.get(PAGE).text
    assert 'aria-label="People by age × colour"' in after and 'class="line"' in after


@pytest.mark.slow
def test_a_release_by_areas_has_its_map_on_the_card_as_on_its_page(dataset):
    """The map may come after the release, and go again."""
    release = finished(dataset, "histogram", ["colour"], "0.9", "laplace-histogram")
    services.publish(release, dataset.owner)
    kinds = []
    square = [0, 0, 100, 0, 100, 100, 0, 100]
    for change in (
        lambda: None,
        lambda: declare_areas(dataset, "colour", Areas(100, 100, {"red": [square]}), "", dataset.owner),
        lambda: remove_areas(dataset, "colour", dataset.owner),
    ):
        change()
        thumbnails.thumbnails_of([release])
        drawn()
        kinds += [{mark["kind"] for mark in thumbnails.thumbnails_of([release])[release.pk]["marks"]}]
    assert kinds == [{"bar"}, {"area"}, {"bar"}]


@pytest.mark.slow
def test_what_is_not_public_is_not_drawn(ready):
    assert thumbnails.thumbnails_of([ready]) == {}
    drawn()
    assert THUMBNAILS.jobs().get().answer["marks"] == []


@pytest.mark.slow
def test_a_running_count_is_drawn_anew_when_it_has_grown(client, dataset):
    stream = streams.open_stream(dataset)
    Stream.objects.filter(pk=stream.pk).update(published_at=timezone.now())
    for index in (1, 2, 3):
        publish(stream.pk, [Update(index, (5,), Period.Source.TYPED)])
    client.get(PAGE)
    drawn()
    assert client.get(PAGE).text.count('class="line"') == 1
    publish(stream.pk, [Update(4, (5,), Period.Source.TYPED)])
    client.get(PAGE)
    drawn()
    assert THUMBNAILS.jobs().get().question["periods"] == 4
    assert THUMBNAILS.jobs().get().answer["marks"][0]["path"].count(" ") == 7


def test_few_pictures_are_drawn_of_a_long_running_count():
    steps = {thumbnails._shown(periods) for periods in range(10_000)}
    assert len(steps) < 50 and {0, 1, 2, 3, 4} <= steps


@pytest.mark.parametrize(
    "trace, kind",
    [
        ({"type": "bar", "y": list(range(-50, 950))}, "bar"),
        ({"type": "scatter", "y": [3, None, 5.5, 2]}, "line"),
        ({"type": "heatmap", "z": [[0, 4], [9, -2], [None, 1]]}, "square"),
    ],
)
def test_every_kind_of_chart_has_few_marks(trace, kind):
    marks = thumbnail({"data": [trace]})
    assert {mark["kind"] for mark in marks} == {kind}
    assert sum(mark["path"].count("M") for mark in marks) <= MOST_BARS
    assert "nan" not in str(marks)


def test_a_chart_of_another_kind_has_none():
    assert thumbnail({"data": [{"type": "table"}]}) == []


def test_all_lines_of_a_chart_are_drawn_on_one_scale_and_none_of_the_next_chart():
    low, high = ({"type": "scatter", "mode": "lines", "y": [0, number]} for number in (50, 100))
    band = {**high, "y": [0, 300], "hoverinfo": "skip"}
    first, second = thumbnail({"data": [band, low, high, {**low, "xaxis": "x2"}]})
    assert first["path"] == f"M0.0 {HEIGHT:.1f} {WIDTH:.1f} {HEIGHT / 2:.1f}"
    assert second["path"] == f"M0.0 {HEIGHT:.1f} {WIDTH:.1f} 0.0"
    assert first["opacity"] == 1 > second["opacity"]


def test_bars_of_several_groups_stand_beside_each_other():
    women, men = thumbnail({"data": [{"type": "bar", "y": [4, 8]}, {"type": "bar", "y": [2, 6]}]})
    # Left edge, floor and top of the first bar of each, of two steps of 60 pixels.
    assert women["path"].startswith("M6.0 72.0V36.0h24.0V72.0z")
    assert men["path"].startswith("M30.0 72.0V54.0h24.0V72.0z")


def test_of_noisy_and_adjusted_counts_the_kind_is_drawn_that_the_chart_shows_first():
    traces = [{"type": "bar", "y": [1, 2], "visible": True}, {"type": "bar", "y": [1, 3], "visible": False}]
    assert len(thumbnail({"data": traces})) == 1
    sides = [{"type": "bar", "orientation": "h", "x": [side, side], "visible": True} for side in (-1, 1)]
    assert thumbnail({"data": [*sides, {**sides[0], "x": [-9, 0], "visible": False}]}) == thumbnail(
        {"data": sides}
    )


def test_a_group_of_which_noise_draws_the_most_is_not_in_the_small_picture():
    def line(values, margin):
        errors = {"type": "data", "array": [margin] * len(values)}
        return {"type": "scatter", "mode": "lines+markers", "y": values, "error_y": errors}

    everybody, women, nobody = line([10, 20, 30], 1), line([9, 22, 31], 3), line([0, 90, None], 45)
    assert len(thumbnail({"data": [everybody, women, nobody]})) == 2
    assert len(thumbnail({"data": [nobody, women]})) == 2, "the first is what the chart is of"


def test_a_map_is_drawn_as_a_map():
    square = [0, 0, 100, 0, 100, 100, 0, 100]
    areas = Areas(
        200, 100, {"north": [square, [150, 50, 151, 50, 151, 51]], "south": [[n + 100 for n in square]]}
    )
    figure = area_figure(areas, ["north", "south"], np.array([10.0, 90.0]), half_width=3, column="region")
    pale, dark = thumbnail(figure.json)
    assert pale["kind"] == dark["kind"] == "area" and pale["opacity"] < dark["opacity"]
    # Twice 100 units over 72 pixels, in the middle of 120; the island of a unit cannot be seen.
    assert pale["path"] == "M24.0 0.0 60.0 0.0 60.0 36.0 24.0 36.0z"
    assert dark["path"] == "M60.0 36.0 96.0 36.0 96.0 72.0 60.0 72.0z"
