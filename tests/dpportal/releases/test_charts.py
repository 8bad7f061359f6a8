"""The pictures of a public page: at once, to take along, and in frames of other sites, as no other page may be."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from django.urls import reverse

from dpportal.datasets import services as dataset_services
from dpportal.datasets.models import PublicDescription
from dpportal.releases import execution, services
from dpportal.releases.models import Release
from dpportal.serving.response_headers import policy
from mechanisms.domain import Categorical, Integer
from tests.dpportal import building
from tests.dpportal.releases.products.building import page_of

pytestmark = pytest.mark.slow
SVG = "{http://www.w3.org/2000/svg}"
FIRST_VIEW = 300_000


@pytest.fixture
def published(ready) -> Release:
    services.publish(ready, ready.created_by)
    return ready


def address(release: Release, form: str = "svg", name: str = "main") -> str:
    return reverse("releases:chart", args=[release.pk, name, form])


def test_the_page_has_a_picture_and_no_library(client, published) -> None:
    page = page_of(client, published)
    assert '<svg class="still"' in page and 'plotly.min.js" defer' not in page
    assert len(page) < FIRST_VIEW
    assert page.index('class="finding"') < page.index('class="still"') < page.index('id="downloads"')


def test_a_picture_by_itself_needs_nothing_and_names_source_and_licence(client, published) -> None:
    PublicDescription.objects.create(dataset=published.dataset, shown=True, licence="CC-BY-4.0")
    answer = client.get(address(published))
    assert answer["Content-Type"] == "image/svg+xml" and "var(" not in answer.text
    texts = " ".join(text.text or "" for text in ET.fromstring(answer.text).iter(f"{SVG}text"))
    assert published.title in texts and published.get_absolute_url() in texts.replace(" ", "")
    assert "Creative Commons Attribution 4.0" in texts


def test_the_live_chart_is_of_the_same_figure(client, published) -> None:
    assert {"data", "layout"} <= set(client.get(address(published, "json")).json())
    for wrong in (address(published, "pdf"), address(published, name="other")):
        assert client.get(wrong).status_code == 404


def test_other_sites_may_frame_the_chart_and_nothing_else(client, published) -> None:
    framed = client.get(reverse("releases:embed", args=[published.pk, "main"]))
    assert framed["Content-Security-Policy"] == policy(is_framed=True)
    assert "X-Frame-Options" not in framed and "frame-ancestors *" in policy(is_framed=True)
    assert published.get_absolute_url() in framed.text
    for other in (published.get_absolute_url(), address(published)):
        answer = client.get(other)
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["Content-Security-Policy"] == policy() and "frame-ancestors 'none'" in policy()


def test_the_line_for_other_sites_has_the_height_of_the_chart_and_a_frame_begins_with_its_source(
    client, published
) -> None:
    page = client.get(published.get_absolute_url()).text
    [height] = re.findall(r"height=&quot;(\d+)&quot;|height=\"(\d+)\" title", page)[:1]
    drawn = [float(tall) for tall in re.findall(r'class="still(?:-narrow)?"\s+viewBox="0 0 \d+ (\d+)', page)]
    assert max(drawn) + 100 < int(max(height)) < max(drawn) + 500
    framed = client.get(reverse("releases:embed", args=[published.pk, "main"])).text
    assert framed.index('class="source"') < framed.index('class="still"')


def test_nothing_of_it_is_there_before_and_a_preview_is_in_no_frame(client, ready, curator) -> None:
    embed = reverse("releases:embed", args=[ready.pk, "main"])
    assert {client.get(a).status_code for a in (embed, address(ready), address(ready, "json"))} == {404}
    client.force_login(curator)
    assert client.get(embed)["X-Frame-Options"] == "DENY"


def _noisy(client, published, choices: dict[str, str]) -> list[dict[str, Any]]:
    """The traces that are shown at first of the chart that a reader chose; adjusted counts lie hidden beside them."""
    traces = client.get(address(published, "json"), choices).json()["data"]
    assert {trace["visible"] for trace in traces if trace.get("meta") == "synthetic"} <= {False}
    return [trace for trace in traces if trace.get("meta") != "synthetic"]


CHART_FORM = re.compile(r'<form class="chart-form.*?</form>', re.DOTALL)
SELECT = re.compile(r'<select name="([^"]+)".*?</select>', re.DOTALL)
SELECTED = re.compile(r'<option value="([^"]*)" selected>')


def _sent_unchanged(page: str) -> dict[str, str]:
    """What the button sends where nothing was changed."""
    form = CHART_FORM.search(page)
    assert form, page
    chosen = {each[1]: SELECTED.search(each[0]) for each in SELECT.finditer(form[0])}
    return {name: value[1] if value else "" for name, value in chosen.items()}


def test_what_is_drawn_with_nothing_changed_is_what_was_there(client, published) -> None:
    sent = _sent_unchanged(page_of(client, published))
    assert sent["along"] == "1" and "map" not in sent
    first, drawn = (client.get(address(published, "json"), asked).json() for asked in ({}, sent))
    assert drawn == first


def test_from_a_heat_map_a_reader_goes_to_lines_and_back(client, curator, administrator) -> None:
    dataset = building.granted(building.stored_dataset(curator), administrator)
    colours = ("red", "green", "blue", *map("hue {}".format, range(7)))
    ages = Integer("age", lower=0, upper=99, width=10)
    dataset_services.declare_all(dataset, [Categorical("colour", values=colours, closed=True), ages])
    release = building.requested_release(dataset)
    execution.RELEASES.run(release.pk)
    release.refresh_from_db()
    services.publish(release, curator)

    def kinds(asked: dict[str, str]) -> set[str]:
        return {each["type"] for each in client.get(address(release, "json"), asked).json()["data"]}

    sent = _sent_unchanged(page_of(client, release))
    assert sent == {"map": "heat"} and kinds({}) == kinds(sent) == {"heatmap"}
    assert "heatmap" not in kinds({"map": "none"})
    lines = client.get(release.get_absolute_url(), {"map": "none"}).text
    assert '<option value="heat">heat map</option>' in lines
    assert "heatmap" not in kinds(_sent_unchanged(lines))
    # Addresses of charts from before there was the choice.
    assert "heatmap" not in kinds({"along": "0", "by": "none"})


def test_a_reader_changes_axis_groups_and_scale(client, published) -> None:
    """100 people of each colour, ten of each in every tenth of the ages; noise of scale 10."""
    ages = _noisy(client, published, {"along": "1", "by": "none"})
    assert [len(trace["x"]) for trace in ages] == [10]
    assert sum(ages[0]["y"]) == pytest.approx(300, abs=250)
    margin, of_one = ages[0]["error_y"]["value"], 30
    assert margin > of_one  # three colours are added up
    shares = _noisy(client, published, {"along": "1", "by": "0", "scale": "share"})
    # Of each group's own people, who are not all counted where noise is below zero: so shares add up to about 100.
    lines = [trace for trace in shares if trace.get("hoverinfo") != "skip"]
    assert all(0 <= share <= 100 and margin > 0 for trace in lines for share, margin in trace["customdata"])
    assert len(shares) == 3 * len(lines)  # each line on the two edges of its band
    nonsense = client.get(published.get_absolute_url(), {"along": "x", "by": "9", "where-0": "-1"})
    assert nonsense.status_code == 200 and 'name="along"' in nonsense.text
