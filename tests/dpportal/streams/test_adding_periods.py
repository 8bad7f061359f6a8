"""Where the next period is added on the page of a stream."""

from __future__ import annotations

from dpportal.datasets import services as datasets
from dpportal.streams import execution
from dpportal.streams.execution import Update
from dpportal.streams.models import Period
from mechanisms.domain import Categorical
from tests.dpportal.chinese import shown_lines
from tests.dpportal.streams import building


def test_the_next_period_is_added_above_the_series_and_news_bring_the_series_in_its_place(
    curious, stream
) -> None:
    execution.publish(stream.pk, [Update(1, (5,), Period.Source.PROGRAM)])
    home = curious.get(f"/streams/{stream.pk}/home/").text
    assert home.index('id="live"') < home.index('id="add"') < home.index('id="measured"')
    assert "hx-swap-oob" not in home
    live = curious.get(f"/streams/{stream.pk}/live/").text
    assert live.index('id="live"') < live.index('id="measured"') and "hx-swap-oob" in live


def test_the_portals_own_labels_are_said_in_the_readers_language(curious, dataset, curator) -> None:
    """Of values that are no column's: those that are missing, and all others."""
    datasets.declare(dataset, "colour", Categorical("colour", True, values=("red", "blue")))
    stream = building.open_stream(dataset, split=True, cells=[])
    draft = building.draft_stream(dataset)
    type(curator).objects.filter(pk=curator.pk).update(language="zh-hans")
    for page in (f"/streams/{stream.pk}/home/", f"/streams/{draft.pk}/timing/"):
        shown = set(shown_lines(curious.get(page).text))
        assert {"其他", "缺失"} <= shown and not {"Other", "Missing"} & shown, page
