"""While a curator still types a declaration, what is empty is a hint and no mistake."""

from __future__ import annotations

import re

import pytest
from django.urls import reverse

from dpportal.datasets import services
from dpportal.datasets.models import Dataset


@pytest.fixture
def desk(client, curator):
    client.force_login(curator)
    return client


def test_what_is_still_empty_is_a_hint_until_it_was_to_be_saved(desk, dataset):
    """Who has chosen a kind alone has made no mistake yet."""
    begun = {"c0-kind": "categorical", "c0-values": "", "c1-kind": "integer", "c1-lower": "x", "c1-upper": ""}
    rows = [desk.post(reverse("datasets:row_cells", args=[dataset.pk, n]), begun).text for n in (0, 1)]
    assert '<li class="hint">Values: Column colour: declare at least one value.</li>' in rows[0]
    assert "<li>Lower limit" in rows[1]
    column = {"kind": "categorical", "values": "", "closed": "open"}
    one = desk.post(reverse("datasets:column_cells", args=[dataset.pk, 0]), column).text
    assert '<li class="hint">' in one
    saved = desk.post(
        reverse("datasets:domain", args=[dataset.pk]), {**begun, "c1-lower": "0", "c1-upper": "9"}
    )
    assert saved.status_code == 422 and '"hint"' not in saved.text
    assert "Values: Column colour: declare at least one value." in saved.text


def test_a_field_is_spoken_as_it_is_labelled(desk, dataset):
    page = desk.get(reverse("datasets:domain", args=[dataset.pk])).text
    for spoken in (
        "in steps of",
        "number of cells",
        "count separately",
        "by",
        "no is written",
        "yes is written",
    ):
        assert page.count(f'aria-label="{spoken}: age"') == 1
        assert re.search(f">{spoken} ?<", " ".join(page.split()))
    assert 'aria-label="count missing separately: age"' in page and "number of bins" not in page


def test_saving_and_what_is_done_with_ticked_columns_stay_in_sight(desk, dataset):
    page = desk.get(reverse("datasets:domain", args=[dataset.pk])).text
    bar = page[page.index('class="declare-bar"') :]
    assert all(
        f'value="{way}"' in bar for way in ("release", "fit", "names", "alike", "yes-or-no", "ignored")
    )
    assert "Go to a column" not in page  # of two, both are in sight


def test_of_many_columns_one_is_a_click_away(desk, dataset):
    columns = [{"name": f"q{number}", "kind": "text"} for number in range(12)]
    Dataset.objects.filter(pk=dataset.pk).update(columns=columns)
    dataset.current_domain().attributes.all().delete()
    page = desk.get(reverse("datasets:domain", args=[dataset.pk])).text
    assert '<a href="#column-11">q11</a>' in page and 'id="column-11"' in page


def test_a_number_of_cells_is_there_before_it_is_asked_for(desk, dataset):
    services.declare_all(dataset, [], ignored=["age", "colour"])
    rows = desk.get(reverse("datasets:domain", args=[dataset.pk])).context["rows"]
    assert {row.form["bins"].value() for row in rows} == {10}
    sent = {"c1-kind": "real", "c1-lower": "0", "c1-upper": "50", "c1-bins": "10"}
    desk.post(reverse("datasets:domain", args=[dataset.pk]), {"c0-kind": "ignored", **sent})
    assert dataset.current_domain().attributes.get().declared().size == 10
