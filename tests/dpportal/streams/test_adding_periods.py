"""Where the next period is added on the page of a stream."""

from __future__ import annotations

from dpportal.streams import execution
from dpportal.streams.execution import Update
from dpportal.streams.models import Period


def test_the_next_period_is_added_above_the_series_and_news_bring_the_series_in_its_place(
    curious, stream
) -> None:
    execution.publish(stream.pk, [Update(1, (5,), Period.Source.PROGRAM)])
    home = curious.get(f"/streams/{stream.pk}/home/").text
    assert home.index('id="live"') < home.index('id="add"') < home.index('id="measured"')
    assert "hx-swap-oob" not in home
    live = curious.get(f"/streams/{stream.pk}/live/").text
    assert live.index('id="live"') < live.index('id="measured"') and "hx-swap-oob" in live
