"""Where values go that fit nothing declared: said in a column's form, in a codebook, and kept as it was stored."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

import pytest
from django.urls import reverse

from dpportal.datasets import codebooks, services
from dpportal.datasets.forms import AttributeForm
from dpportal.datasets.shown_declarations import initial_of
from mechanisms.domain import Attribute, Boolean, Categorical, Date, DomainError, Integer, Real

WHOLE = {"kind": "integer", "lower": "0", "upper": "99", "binning": "width", "width": "25"}
LIST = {"kind": "categorical", "values": "a\nb"}


def form_of(**fields: Any) -> AttributeForm:
    return AttributeForm(fields, column="x")


def declared(**fields: Any) -> Attribute | None:
    form = form_of(**fields)
    assert form.is_valid(), form.errors
    return form.attribute()


def test_a_list_that_is_not_complete_has_the_cell_other():
    assert declared(**LIST, closed="open") == Categorical("x", values=("a", "b"))


def test_a_complete_list_sends_misfits_to_a_value_or_leaves_them_out():
    assert declared(**LIST, closed="value", misfits_to="b") == Categorical(
        "x", values=("a", "b"), closed=True, misfits_to=1
    )
    assert declared(**LIST, closed="left-out") == Categorical("x", values=("a", "b"), closed=True)


def test_a_number_without_a_missing_cell_says_where_the_missing_go():
    assert declared(**WHOLE) == Integer("x", lower=0, upper=99, width=25)
    assert declared(**WHOLE, closed="left-out") == Integer("x", lower=0, upper=99, width=25, closed=True)
    named = declared(**WHOLE, closed="value", misfits_to="25-49")
    assert named == Integer("x", lower=0, upper=99, width=25, closed=True, misfits_to=1)


def test_a_day_and_a_real_number_say_so_too():
    real = declared(
        kind="real", lower="0", upper="1", binning="width", bins="2", closed="value", misfits_to="0.5 to 1"
    )
    assert real == Real("x", lower=0.0, upper=1.0, bins=2, closed=True, misfits_to=1)
    bounds = {"lower": "2024-01-01", "upper": "2024-12-31", "step": "quarter"}
    day = declared(kind="date", **bounds, closed="value", misfits_to="2024-Q2")
    year = {"lower": dt.date(2024, 1, 1), "upper": dt.date(2024, 12, 31)}
    assert day == Date("x", **year, step="quarter", closed=True, misfits_to=1)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({**LIST}, "closed"),
        ({**LIST, "closed": "value"}, "misfits_to"),
        ({**LIST, "closed": "value", "misfits_to": "c"}, "misfits_to"),
        ({**LIST, "closed": "left-out", "misfits_to": "a"}, "misfits_to"),
        ({**LIST, "closed": "open", "misfits_to": "a"}, "misfits_to"),
        ({**LIST, "closed": "somewhere"}, "closed"),
        ({**LIST, "closed": "open", "as_numbers": "on"}, "values"),
        ({**WHOLE, "missing_cell": "on", "closed": "left-out"}, "closed"),
        ({**WHOLE, "missing_cell": "on", "closed": "value", "misfits_to": "0-24"}, "closed"),
        ({**WHOLE, "closed": "value", "misfits_to": "100-124"}, "misfits_to"),
        ({"kind": "boolean", "closed": "value", "misfits_to": "maybe"}, "misfits_to"),
        (
            {"kind": "categorical", "values": "a\nMissing", "closed": "left-out", "missing_cell": "on"},
            "values",
        ),
        ({"kind": "categorical", "values": "a\nother", "closed": "open"}, "values"),
    ],
)
def test_what_does_not_go_together_is_told_at_its_field(fields, field):
    form = form_of(**fields)
    assert not form.is_valid()
    assert list(form.errors) == [field]


def test_a_value_may_be_called_other_where_no_such_cell_is():
    values = declared(kind="categorical", values="a\nOther\nMissing", closed="left-out")
    assert values == Categorical("x", values=("a", "Other", "Missing"), closed=True)


@pytest.mark.parametrize(
    "attribute",
    [
        Categorical("x", True, ("1", "2"), True, closed=True, misfits_to=0),
        Boolean("x", closed=True, misfits_to=1),
        Integer("x", False, 0, 99, 25, closed=True, misfits_to=2),
        Real("x", False, 0.0, 1.0, 2, closed=True),
        Date("x", closed=True),
    ],
)
def test_the_form_shows_a_declaration_as_it_was_saved(attribute):
    shown = initial_of(attribute, "text")
    sent = {name: value for name, value in shown.items() if value is not None and value is not False}
    assert declared(**sent) == attribute


def test_the_live_picture_follows(client, curator, dataset):
    client.force_login(curator)
    address = reverse("datasets:column_cells", args=[dataset.pk, 0])
    page = client.post(address, {**LIST, "closed": "open"}).content.decode()
    assert "3 cells" in page
    page = client.post(address, {**LIST, "closed": "left-out"}).content.decode()
    assert "2 cells" in page
    assert "no longer public" in page
    page = client.post(address, {**LIST, "closed": "value", "misfits_to": "b"}).content.decode()
    assert "What does not fit counts as b." in page


def read(entry: Any) -> Attribute:
    [attribute] = codebooks.read(json.dumps({"x": entry}).encode(), ["x"]).attributes
    return attribute


@pytest.mark.parametrize(
    "attribute",
    [
        Categorical("x", True, ("1", "2.5"), True, closed=True, misfits_to=0),
        Boolean("x", closed=True),
        Integer("x", False, 0, 99, 25, closed=True, misfits_to=2),
    ],
)
def test_a_codebook_knows_all_that_a_release_writes(attribute):
    assert read(attribute.to_json()) == attribute


@pytest.mark.parametrize(
    "wrong",
    [
        {"closed": "yes"},
        {"closed": True, "misfits_to": "a"},
        {"closed": True, "misfits_to": True},
        {"closed": True, "misfits_to": 2},
        {"misfits_to": 0},
        {"as_numbers": 1},
        {"as_numbers": True},
        {"values": ["a", "other"]},
        {"values": ["a", "Missing"], "missing_cell": True},
    ],
)
def test_a_codebook_with_a_wrong_closing_is_refused(wrong):
    with pytest.raises(codebooks.CodebookError):
        read({"kind": "categorical", "values": ["a", "b"], **wrong})


def test_what_was_declared_before_still_loads(dataset):
    """Earlier declarations could list the label of a cell that the column has; now that is refused, wherever from."""
    clash = Categorical("colour", True, ("red", "Other", "Missing"))
    with pytest.raises(DomainError, match="already the name of a cell"):
        services.declare(dataset, "colour", clash)
    dataset.current_domain().attributes.filter(column="colour").update(declaration=clash.to_json())
    [colour, _age] = dataset.current_domain().domain().attributes
    assert colour.labels() == ["red", "Other", "Missing", "Missing"]
