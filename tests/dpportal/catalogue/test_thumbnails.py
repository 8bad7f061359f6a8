"""Small pictures of what is published: drawn by workers, of nothing else, anew when a running count has grown."""

from __future__ import annotations

import pytest
from django.utils import timezone

from dpportal.catalogue import thumbnails
from dpportal.catalogue.thumbnails import THUMBNAILS
from dpportal.charts.thumbnail import MOST_BARS, thumbnail
from dpportal.releases import services
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period, Stream
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
    assert 'aria-label="Counts by colour × age"' in after and 'class="line"' in after


@pytest.mark.slow
def test_what_is_not_public_is_not_drawn(ready):
    assert thumbnails.of([ready]) == {}
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
