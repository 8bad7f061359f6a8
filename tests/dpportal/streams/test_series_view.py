"""Which running counts a page draws, how, and the intervals of what is new in each period."""

from __future__ import annotations

import csv
import io
import re
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from django.http import QueryDict
from django.test import Client
from django.utils.translation import override

from dpportal.charts.cell_names import named
from dpportal.datasets import services as datasets
from dpportal.streams import series_view, services, still_charts
from dpportal.streams.execution import Update, publish
from dpportal.streams.models import Period, Stream
from dpportal.streams.series_view import Chosen
from mechanisms import registry
from mechanisms.domain import Categorical
from tests.dpportal.streams import building

VALUES = tuple(f"kind {number:02d}" for number in range(14))


@pytest.fixture
def many(dataset) -> Stream:
    """A running count for each of 14 kinds, and missing, over 4 of 12 periods."""
    datasets.declare(dataset, "colour", Categorical("colour", values=VALUES))
    stream = building.open_stream(dataset, split=True, cells=[], amount=Decimal("0.9"))
    width = len(stream.labels)
    updates = [Update(t, tuple(range(t, t + width)), Period.Source.COUNTS) for t in range(1, 5)]
    publish(stream.pk, updates, noise=building.repeated_noise())
    return stream


def asked(query: str) -> QueryDict:
    return QueryDict(query)


@pytest.mark.parametrize(
    "query, places",
    [
        ("", range(6)),
        ("view=apart", range(12)),
        ("count=3", [3]),
        ("count=9&count=2&count=9", [9, 2]),
        ("count=99", [0]),
        ("count=x&count=-1", [0]),
        ("&".join(f"count={place}" for place in range(14)), range(6)),
    ],
)
def test_what_is_asked_for_is_drawn_as_far_as_it_can_be_told_apart(many, query: str, places) -> None:
    assert Chosen.of(many, asked(query)).places == tuple(places)


def test_the_address_of_a_choice_asks_for_the_same(many) -> None:
    for query in ("", "view=apart&count=3&count=1", "count=13"):
        chosen = Chosen.of(many, asked(query))
        assert Chosen.of(many, asked(chosen.address)) == chosen


@pytest.mark.slow
@pytest.mark.parametrize("query, lines", [("count=2&count=5", 2), ("view=apart&count=1&count=2&count=3", 3)])
def test_both_pages_draw_what_was_asked_for(curious, many, query: str, lines: int) -> None:
    services.publish(many, many.created_by)
    for client, page in ((curious, "home/"), (Client(), "")):
        answer = client.get(f"/streams/{many.pk}/{page}?{query}")
        figure = answer.context["figures"]["series"]
        data = (figure["json"] if isinstance(figure, dict) else figure.json)["data"]
        assert len([t for t in data if "lines" in t["mode"] and t.get("fill") is None]) >= lines
        assert len(answer.context["newest"][0]["released"]) == lines
        assert len(re.findall(r'name="count" value="\d+" checked', answer.text)) == lines


@pytest.mark.slow
def test_a_public_page_draws_once_for_each_state_choice_and_language(many, monkeypatch) -> None:
    """Fourteen counts took a tenth of a second of every visit."""
    services.publish(many, many.created_by)
    made = []
    draw = still_charts.figures
    monkeypatch.setattr(still_charts, "figures", lambda *given: made.append(given) or draw(*given))
    visitor = Client()

    def seen(query: str = "") -> dict:
        return visitor.get(f"/streams/{many.pk}/{query}").context["figures"]

    first = seen()
    assert seen() == first and len(made) == 1
    assert seen("?count=2") != first and len(made) == 2
    with override("zh-hans"):
        count = many.periods.count()
        other = still_charts.still_charts(many, Chosen.of(many, asked("")), count)
    assert other["series"]["title"] != first["series"]["title"] and len(made) == 3
    width = len(many.labels)
    publish(many.pk, [Update(5, (9,) * width, Period.Source.COUNTS)], noise=building.repeated_noise())
    assert seen() != first and len(made) == 4


@pytest.mark.slow
def test_the_live_part_asks_for_the_same_again(curious, many) -> None:
    home = curious.get(f"/streams/{many.pk}/home/?count=2&count=5&view=apart")
    assert "view=apart&amp;count=2&amp;count=5" in home.text
    live = curious.get(f"/streams/{many.pk}/live/?count=2&count=5&view=apart")
    assert live.context["chosen"].places == (2, 5)


@pytest.mark.slow
def test_what_is_new_has_the_interval_of_the_difference_not_of_both(many) -> None:
    shown = series_view.shown(many, asked("count=0"))
    plan, periods = many.plan, np.arange(1, 5)
    mechanism = registry.stream(plan.mechanism)
    rows = shown["newest"][::-1]
    assert [row["added_half_width"] for row in rows] == mechanism.increment_half_widths(
        plan, periods
    ).tolist()
    counts = [row["released"][0] for row in rows]
    assert [row["added"][0] for row in rows] == np.diff(counts, prepend=0).tolist()
    # The third period has an answer of its own and keeps the block of the first two.
    assert rows[2]["added_half_width"] < rows[2]["half_width"] + rows[1]["half_width"]


@pytest.mark.slow
def test_of_a_long_series_the_first_row_shown_still_has_the_period_before_it(dataset) -> None:
    stream = building.open_stream(dataset, horizon=600)
    updates = [Update(t, (1,), Period.Source.COUNTS) for t in range(1, 105)]
    publish(stream.pk, updates, noise=building.repeated_noise())
    shown = series_view.shown(stream, asked(""))
    released = list(stream.periods.order_by("index").values_list("released", flat=True))
    oldest = shown["newest"][-1]
    assert (len(shown["newest"]), oldest["label"]) == (100, "5")
    assert oldest["added"][0] == released[4][0] - released[3][0]
    bars = series_view.figures(stream, shown["chosen"], 104)["increments"].json["data"][0]
    assert (len(bars["x"]), bars["x"][-1]) == (96, "104")


@pytest.mark.slow
def test_the_download_tells_the_intervals_of_increments(many) -> None:
    services.publish(many, many.created_by)
    building.with_files(many)
    answer = Client().get(f"/streams/{many.pk}/download/series.csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))
    plan = many.plan
    widths = registry.stream(plan.mechanism).increment_half_widths(plan, np.arange(1, 5))
    for row in rows:
        width = widths[int(row["period"]) - 1]
        assert int(row["increment_upper"]) - int(row["increment"]) == width
        assert int(row["increment"]) - int(row["increment_lower"]) == width


@pytest.mark.slow
def test_the_curator_sees_true_increments_and_nobody_else(curious, stream) -> None:
    for index, count in ((1, 70_001), (2, 30_007)):
        publish(stream.pk, [Update(index, (count,), Period.Source.TYPED)], noise=building.repeated_noise())
    services.publish(stream, stream.created_by)
    own = curious.get(f"/streams/{stream.pk}/compare/").context["figures"]["increments"]
    assert [t["y"] for t in own.json["data"] if t["name"] == "True"] == [[70_001, 30_007]]
    shown = Client().get(f"/streams/{stream.pk}/").context["figures"]["increments"]
    assert "True" not in {trace["name"] for trace in shown["json"]["data"]}


@pytest.mark.parametrize(
    "calendar, until", [({}, "period 2"), ({"step": "month", "first_day": date(2020, 3, 1)}, "30 April 2020")]
)
def test_a_finding_says_up_to_which_period_it_counts(client: Client, dataset, calendar, until) -> None:
    stream = building.open_stream(dataset, **calendar)
    updates = [Update(t, (10 * t,), Period.Source.COUNTS) for t in (1, 2)]
    publish(stream.pk, updates, noise=building.repeated_noise())
    services.publish(stream, stream.created_by)
    page = " ".join(client.get(stream.get_absolute_url()).text.split())
    assert f"Up to {until}: <strong>" in page


def by_groups(dataset, values: tuple[str, ...], increments: tuple[int, ...]) -> Stream:
    """Two published periods of a running count for each of the values."""
    datasets.declare(dataset, "colour", Categorical("colour", values=values))
    stream = building.open_stream(dataset, split=True, cells=[])
    others = (0,) * (len(stream.labels) - len(increments))
    updates = [Update(t, (*increments, *others), Period.Source.COUNTS) for t in (1, 2)]
    publish(stream.pk, updates, noise=building.repeated_noise())
    services.publish(stream, stream.created_by)
    return stream


def finding_of(client: Client, stream: Stream, query: str = "") -> str:
    page = client.get(f"{stream.get_absolute_url()}{query}").text
    part = page.partition('<p class="finding">')[2].partition("</p>")[0]
    return " ".join(re.sub("<[^>]*>", " ", part).replace("\u00a0", " ").split())


def test_a_finding_of_groups_begins_with_all_of_them_together(client: Client, dataset) -> None:
    """Whatever is drawn: the sum with a margin of its own, then each group."""
    stream = by_groups(dataset, ("red", "blue"), (3000, 1000))
    first, second = stream.periods.order_by("index").values_list("released", flat=True)
    plan, last = stream.plan, np.array([2])
    method = registry.stream(plan.mechanism)
    width = len(stream.labels)
    margin, new = (int(f(plan, last, width)[0]) for f in (method.half_widths, method.increment_half_widths))
    one = stream.periods.get(index=2).half_width
    assert one < margin < width * one
    groups = ", ".join(f"{n} {c:,} ± {one:,}" for n, c in zip(named(stream.labels), second, strict=True))
    said = (
        f"Up to period 2: {sum(second):,} ± {margin:,} people in all. "
        f"New in that period: {sum(second) - sum(first):,} ± {new:,}. By colour: {groups}."
    )
    assert finding_of(client, stream) == said == finding_of(client, stream, "?count=1")


@pytest.mark.parametrize(
    ("increments", "end"),
    [
        ((20, 9_000, 30, 40), "The largest group, blue, has"),
        ((1, 1, 1, 1), "No group is certainly the largest."),
    ],
)
def test_of_many_groups_the_largest_is_named_if_it_is_certain(
    client: Client, dataset, increments, end
) -> None:
    stream = by_groups(dataset, ("red", "blue", "green", "grey"), increments)
    assert end in finding_of(client, stream)


def test_a_number_below_0_has_a_minus_sign_in_the_table(client: Client, dataset) -> None:
    stream = by_groups(dataset, ("red", "blue", "green", "grey"), (0, 0, 0, 0))
    numbers = re.findall(r'<td class="number">([^<]*)</td>', client.get(stream.get_absolute_url()).text)
    assert any(number.startswith("\N{MINUS SIGN}") for number in numbers)
    assert not any(number.startswith("-") for number in numbers)


@pytest.mark.parametrize(
    ("values", "heads"), [(("red", "blue"), ["Period", "Margin of each"]), (("red",), None)]
)
def test_of_groups_the_margin_stands_before_their_counts(client: Client, dataset, values, heads) -> None:
    """A phone shows the first columns; of one count the margin follows it there."""
    stream = by_groups(dataset, values, (40,) * len(values)) if heads else building.open_stream(dataset)
    if not heads:
        publish(stream.pk, [Update(1, (40,), Period.Source.COUNTS)], noise=building.repeated_noise())
        services.publish(stream, stream.created_by)
    table = client.get(stream.get_absolute_url()).text.partition('id="table"')[2]
    said = [" ".join(head.split()) for head in re.findall(r"<th scope=\"col\"[^>]*>([^<]*)<", table)]
    assert said[:2] == heads if heads else said[2] == "Margin"
    row = re.findall(r'<td class="number[^"]*">([^<]*)<', table)
    assert row[0 if heads else 1].startswith("±")
