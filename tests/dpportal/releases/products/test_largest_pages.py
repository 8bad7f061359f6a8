"""The pages of the largest releases do little while a visitor waits, whatever their address asks for.

What is done is counted, not timed, as in test_public_work.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from django.core.files.storage import default_storage
from django.test import Client
from django.urls import reverse

from dpportal.charts.area_map import MOST_AREAS
from dpportal.charts.column_summaries import MOST_LABELS, shares_figure
from dpportal.datasets import services
from dpportal.datasets.area_files import take_areas
from dpportal.datasets.geojson import MAX_POINTS, GeoJsonError
from dpportal.datasets.models import AttributeDeclaration
from dpportal.platform.json_types import Json
from dpportal.releases import reader_plans, results
from dpportal.releases.models import Release
from dpportal.releases.products import confirmed_plan, presenter_of
from dpportal.releases.products.histogram import page as histogram_page, reader_choices
from dpportal.releases.products.shared.figures import figure_json
from dpportal.releases.products.shared.stored_estimates import measured
from dpportal.releases.products.summary import page as summary_page
from dpportal.releases.products.summary.product import SUMMARY
from mechanisms.domain import Categorical, Integer
from mechanisms.protocol import Result
from mechanisms.summary.mechanism import MAX_COLUMNS
from mechanisms.summary.plan import SummaryPlan
from tests.dpportal import building
from tests.dpportal.releases.products import largest
from tests.dpportal.releases.products.building import finished
from tests.dpportal.releases.products.microdata.building import dataset_of
from tests.dpportal.test_public_work import MOST_CALLS, calls

SIDES = Categorical("colour", values=("red", "green"), closed=True)
# Characters of JSON that a page of a long summary reads from the storage.
MOST_STORED = 500_000
MANY = Categorical("colour", values=tuple(f"colour {place}" for place in range(300)), closed=True)


def pages(release: Release, query: str) -> list[str]:
    """The public page, its chart as a picture, and the frame for other sites."""
    chart = {"release_id": release.pk, "chart": "main"}
    return [
        reverse("releases:public", args=[release.pk]) + query,
        reverse("releases:chart", kwargs={**chart, "form": "svg"}) + query,
        reverse("releases:embed", kwargs=chart) + query,
    ]


def most_calls(release: Release, query: str) -> int:
    """Of what every page needs once, nothing is counted."""
    visitor, found = Client(), []
    for address in pages(release, query):
        assert visitor.get(address).status_code == 200
        found.append(calls(partial(visitor.get, address)))
    return max(found)


def counted(dataset, cells: int, **fields: object) -> Release:
    """A histogram with its page; adjusted counts are the measured ones cut at zero."""
    release = largest.histogram(dataset, "laplace-histogram", cells, **fields)
    with measured(release) as values:
        raw = np.array(values)
    result = Result(raw=raw, counts=np.maximum(raw, 0))
    return largest.with_page(release, histogram_page.page(confirmed_plan(release), result, None))


@pytest.mark.slow
def test_of_a_column_that_fits_no_chart_the_stored_one_is_shown(dataset) -> None:
    release = counted(dataset, reader_choices.MAX_CELLS)
    for query in ("", "?x=1", "?along=0&by=0&scale=share"):
        assert most_calls(release, query) < MOST_CALLS, query


@pytest.mark.slow
@pytest.mark.parametrize(
    ("colours", "cells"), [(MANY, reader_choices.MAX_ALONG), (SIDES, reader_choices.MAX_CELLS // 2)]
)
def test_groups_are_offered_where_there_are_few(dataset, colours, cells) -> None:
    services.declare(dataset, "colour", colours)
    release = counted(dataset, cells, columns=["colour", "age"])
    for query in ("?x=1", "?along=0&by=1", "?along=1&by=0&scale=share"):
        assert most_calls(release, query) < MOST_CALLS, query


def circles(number: int) -> bytes:
    """So many areas, of as many corners together as a map may have."""
    angles = np.linspace(0, 2 * np.pi, MAX_POINTS // number - 1)
    shape = [(np.cos(angle) / 2, np.sin(angle) / 2) for angle in angles]
    features = [
        {
            "properties": {"name": f"area {place}"},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[x + place % 20, y + place // 20] for x, y in shape]],
            },
        }
        for place in range(number)
    ]
    return json.dumps({"features": features}).encode()


@pytest.mark.slow
@pytest.mark.parametrize("columns", [["colour"], ["colour", "age"]])
def test_a_map_of_the_most_areas_does_little(dataset, columns) -> None:
    values = tuple(f"area {place}" for place in range(MOST_AREAS))
    services.declare(dataset, "colour", Categorical("colour", values=values, closed=True))
    assert take_areas(dataset, "colour", circles(MOST_AREAS), "", dataset.owner).lacking == []
    release = counted(dataset, 300, columns=columns)
    assert most_calls(release, "?map=0") < MOST_CALLS
    assert Client().get(pages(release, "?map=0")[1]).text.count("<path") >= MOST_AREAS
    services.declare(dataset, "colour", Categorical("colour", values=(*values, "area 400"), closed=True))
    with pytest.raises(GeoJsonError, match="at most 400 areas, and this column has 401"):
        take_areas(dataset, "colour", circles(MOST_AREAS), "", dataset.owner)


def summary_page_of(groups: int, columns: int) -> Json:
    """A page of as many cells and charts as a job stores, all alike."""
    share, edge = np.full(MOST_LABELS, 0.5), np.full(MOST_LABELS, 0.1)
    series = {f"group {place}": (share, share - edge, share + edge) for place in range(groups)}
    figure = figure_json(shares_figure("column", [f"v{place}" for place in range(MOST_LABELS)], series))
    cell = {"text": "1,234 ± 6 (12.34 % ± 0.14)", "sort": 1234}
    rows = summary_page.MOST_CELLS // groups // columns
    row = {"label": "v", "cells": [cell] * groups, "is_category": True, "mark": "M0 0h9v9z"}
    block = {"name": "column", "is_number": False, "rows": [row] * rows, "mark": ""}
    charts = [
        {"name": "column", "place": f"column-{place}", "figure": figure}
        for place in range(summary_page.MOST_CHARTS)
    ]
    return {
        "figure": figure,
        "table": True,
        "table_one": {
            "caption": "Table 1",
            "heads": [{**cell, "name": f"group {place}"} for place in range(groups)],
            "group_name": "group",
            "difference_name": "",
            "hidden": [],
            "blocks": [{**block, "place": f"column-{place}"} for place in range(columns)],
            "columns": 2 + groups,
        },
        "charts": charts,
        "charted": [chart["place"] for chart in charts],
        "further": 3,
    }


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "columns"), [(1, 500), (21, 60), (21, 1)])
def test_a_summary_shows_its_first_rows_and_draws_no_chart(dataset, groups, columns) -> None:
    parameters = {"group": "", "twice": []}
    fields = {"product": "summary", "mechanism": "column-tables", "parameters": parameters}
    release = largest.published(largest.confirmed(dataset, 100, **fields))
    shown = summary_page_of(groups, columns)
    largest.with_page(release, shown)
    text = Client().get(pages(release, "")[0]).text
    kept = presenter_of(release).chosen(release, confirmed_plan(release), shown, None)
    assert f"The first {kept['first_rows']} rows" in text and 'id="column-59-chart"' in text
    assert 'class="still"' not in text and 'href="#chart-main"' not in text
    assert most_calls(release, "") < MOST_CALLS


def test_a_page_reads_plan_and_declared_values_once(client, dataset, monkeypatch) -> None:
    """However many values are declared: here they are those of a small summary."""
    fields = {"product": "summary", "mechanism": "column-tables", "parameters": {"group": "", "twice": []}}
    release = largest.published(largest.confirmed(dataset, 100, **fields))
    largest.with_page(release, summary_page_of(1, 1))
    [page, *_more] = pages(release, "")
    first, read = client.get(page).text, []
    with monkeypatch.context() as counting:
        counting.setattr(SummaryPlan, "from_json", lambda _stored: read.append("plan"))
        counting.setattr(AttributeDeclaration, "declared", lambda line: read.append(line.column))
        again = client.get(page)
    assert read == [] and again.status_code == 200 and len(again.text) == len(first)


def test_plans_of_readers_pages_stay_as_far_as_there_is_room(dataset, monkeypatch) -> None:
    fields = {"product": "summary", "mechanism": "column-tables", "parameters": {"group": "", "twice": []}}
    release = largest.published(largest.confirmed(dataset, 100, **fields))
    plan = reader_plans.confirmed_plan(release)
    assert plan.to_json() == confirmed_plan(release).to_json()
    assert reader_plans.confirmed_plan(release) is plan
    reader_plans._plans.clear()
    monkeypatch.setattr(reader_plans._plans, "most", 10)
    assert reader_plans.confirmed_plan(release).to_json() == plan.to_json() and not reader_plans._plans


@pytest.fixture
def wide(curator, administrator) -> Release:
    """A summary of as many columns as there can be, half of them numbers, by nineteen groups."""
    names = [f"c{place}" for place in range(MAX_COLUMNS)]
    texts = Categorical("c0", values=tuple(f"v{place}" for place in range(30)))
    columns = [
        Integer(name, True, 0, 100_000) if place % 2 else replace(texts, name=name)
        for place, name in enumerate(names)
    ]
    table = {name: ["1"] * building.ROWS for name in ["g", *names]}
    dataset = dataset_of(curator, "Wide", table, [Integer("g", lower=1, upper=19), *columns])
    building.granted(dataset, administrator, "10")
    draft = building.complete_draft(dataset)
    parameters = {"group": "g", "twice": []}
    fields = {"product": "summary", "mechanism": "column-tables", "parameters": parameters}
    Release.objects.filter(pk=draft.pk).update(columns=["g", *names], **fields)
    draft.refresh_from_db()
    building.confirm(draft)
    return largest.published(Release.objects.get(pk=draft.pk))


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "columns"), [(1, 500), (20, 60)])
def test_a_summary_of_very_many_columns_lists_few_and_leads_to_all(wide, groups, columns) -> None:
    """Its plan, the form of the columns to add up, and what is declared are as long as the table."""
    largest.with_page(wide, summary_page_of(groups, columns))
    text = Client().get(pages(wide, "")[0]).text
    assert "more columns, which are in the codebook" in text and text.count('name="pick-columns"') == 501
    assert most_calls(wide, "") < MOST_CALLS
    explore = reverse("releases:explore", args=[wide.pk])
    assert calls(lambda: Client().get(explore)) < MOST_CALLS


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 3, 20])
def test_means_of_very_many_groups_are_shown_of_the_first(curator, administrator, columns) -> None:
    """As many as there may be, by three columns: each row has ten cells."""
    groups = [Categorical(name, values=tuple(f"{name} {place}" for place in range(6))) for name in "abc"]
    numbers = [Integer(f"n{place}", lower=0, upper=1000) for place in range(columns)]
    table = {attribute.name: ["1"] * building.ROWS for attribute in [*groups, *numbers]}
    dataset = building.granted(dataset_of(curator, "Wide", table, [*groups, *numbers]), administrator, "100")
    names = [attribute.name for attribute in numbers]
    parameters = {"measured": names, "deviation": True, "steps": {}}
    release = finished(dataset, "means", ["a", "b", "c", *names], "50", "bernstein-sums", **parameters)
    assert most_calls(largest.published(release), "") < MOST_CALLS


@pytest.mark.slow
def test_the_first_of_very_many_answers_are_shown(dataset) -> None:
    services.declare(dataset, "age", Integer("age", lower=0, upper=99))
    parameters = {"workload": 'ranges("age")'}
    release = finished(dataset, "queries", ["age"], "0.5", "identity-strategy", **parameters)
    assert most_calls(largest.published(release), "") < 0.7 * MOST_CALLS


def test_a_table_that_fits_is_shown_whole() -> None:
    block = {"name": "age", "rows": [{"label": "Mean"}, {"label": "Median"}]}
    table = {"columns": 3, "blocks": [block, block]}
    assert summary_page.first_rows(table) == {"table_one": table}
    most = summary_page.MOST_ON_PAGE // 3 - 1
    long = {"name": "job", "rows": [{"label": str(place)} for place in range(10_000)]}
    cut = summary_page.first_rows({"columns": 3, "blocks": [long, block]})
    assert cut["first_rows"] == most and cut["table_one"]["blocks"] == [{**long, "rows": long["rows"][:most]}]


def test_a_summary_is_stored_with_the_rows_that_its_page_shows() -> None:
    """A visitor's page reads nothing of the others; they are in the report and in the downloads."""
    shown = summary_page_of(1, 90)
    stored = SUMMARY.presenter.stored(shown)
    rows = [row for block in stored["table_one"]["blocks"] for row in block["rows"]]
    assert len(rows) == stored["first_rows"] < summary_page.MOST_ON_PAGE
    assert len(json.dumps(stored["table_one"])) < len(json.dumps(shown["table_one"])) / 4
    assert summary_page.first_rows(stored["table_one"]) == {"table_one": stored["table_one"]}


@pytest.mark.slow
def test_a_summary_of_many_numbers_and_long_lists_does_little(curator, administrator) -> None:
    """50 columns of numbers and 40 of a hundred values, made by a job: its page takes no more than most do."""
    numbers = [Integer(f"n{place}", lower=0, upper=1000) for place in range(50)]
    texts = [Categorical(f"c{place}", values=tuple(f"value {v}" for v in range(100))) for place in range(40)]
    table = {column.name: ["1"] * building.ROWS for column in numbers}
    table |= {column.name: [f"value {row % 100}" for row in range(building.ROWS)] for column in texts}
    columns = [*numbers, *texts]
    dataset = building.granted(dataset_of(curator, "Long", table, columns), administrator, "100")
    names = [column.name for column in columns]
    release = finished(dataset, "summary", names, "50", "column-tables", group="", twice=[])
    address = pages(largest.published(release), "")[0]
    assert Client().get(address).status_code == 200
    assert calls(partial(Client().get, address)) < 0.75 * MOST_CALLS
    with default_storage.open(results.page_name(release)) as file:
        assert len(file.read()) < MOST_STORED
