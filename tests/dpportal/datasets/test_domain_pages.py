"""The strip that pictures a column's cells, and the pages that declare them."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import Client
from django.urls import reverse

from dpportal.datasets import services
from dpportal.datasets.cell_strip import MAX_BOXES, strip
from dpportal.datasets.common_values import common_values, round_numbers
from dpportal.datasets.declared import declared_of
from dpportal.datasets.forms import AttributeForm
from dpportal.datasets.progressions import numbers_listed
from dpportal.datasets.range_declaration import attribute_of_range
from dpportal.datasets.shown_declarations import initial_of
from dpportal.releases.models import Release
from mechanisms.domain import Boolean, Categorical, Date, Integer, Real
from tests.dpportal import building


@pytest.fixture
def desk(client, curator) -> Client:
    client.force_login(curator)
    return client


def test_equal_bins_are_equal_boxes():
    boxes = strip(Integer("age", lower=0, upper=99, width=25)).boxes
    assert [(box.label, box.x, box.width) for box in boxes] == [
        ("0–24", 0, 25),
        ("25–49", 25, 25),
        ("50–74", 50, 25),
        ("75–99", 75, 25),
    ]


def test_own_edges_are_drawn_to_scale():
    boxes = strip(Real("dose", lower=0.0, upper=10.0, edges=(0.0, 1.0, 10.0))).boxes
    assert [(box.x, box.width) for box in boxes] == [(0, 10), (10, 90)]


def test_single_values_are_drawn_over_their_neighbours_wide_enough_to_be_seen():
    shown = strip(Integer("gain", True, lower=0, upper=99999, width=50000, single_values=(0, 99999)))
    assert shown.names == ["0", "1–49999", "50000–99998", "99999", "Missing"]
    assert [(box.label, box.single) for box in shown.boxes][-2:] == [("0", True), ("99999", True)]
    assert [(box.x, box.width) for box in shown.boxes[-2:]] == [(0, 0.8), (93.2, 0.8)]
    dose = strip(Real("dose", lower=0.0, upper=10.0, bins=2, single_values=(2.5,)))
    assert [(box.x, box.width) for box in dose.boxes] == [(0, 25), (25, 25), (50, 50), (25, 0.8)]


def test_missing_values_have_their_box_at_the_end():
    *cells, last = strip(Boolean("smoker", True)).boxes
    assert [box.missing for box in cells] == [False, False]
    assert last.missing
    assert last.x + last.width == 100


def test_a_million_cells_are_a_few_boxes():
    shown = strip(Integer("income", lower=1, upper=1_000_000))
    assert len(shown.boxes) == MAX_BOXES
    assert shown.cells_in_a_box == 5000
    assert shown.boxes[0].label == "1 … 5000"


def test_days_are_named_by_their_first_and_last_where_many_share_a_box():
    days = Date("day", lower=dt.date(2020, 1, 1), upper=dt.date(2021, 12, 31), step="day")
    assert strip(days).boxes[0].label == "2020-01-01 … 2020-01-04"


def test_names_beyond_the_first_are_counted():
    shown = strip(Categorical("colour", values=tuple("abcdefghijklmnopqrst")))
    assert len(shown.names) == 16
    assert shown.names_left_out == 5


@pytest.mark.slow
def test_the_live_picture_draws_what_is_typed_and_saves_nothing(desk, dataset):
    address = reverse("datasets:column_cells", args=[dataset.pk, 1])
    fields = {"kind": "integer", "lower": "0", "upper": "19", "binning": "per_value"}
    page = desk.post(address, fields).content.decode()
    assert "20 cells" in page
    assert page.count("<rect") == 20
    assert dataset.current_domain().domain().shape == (4, 10)


GAIN = {"kind": "integer", "lower": "0", "upper": "99999", "binning": "width", "width": "5000"}


def test_common_values_are_asked_about_until_they_have_a_cell(desk, dataset):
    address = reverse("datasets:column_cells", args=[dataset.pk, 1])
    page = desk.post(address, GAIN).content.decode()
    assert "20 cells" in page and "Is 0 common?" in page and "Is 99999 common?" in page
    page = desk.post(address, GAIN | {"single_values": "99999, 0"}).content.decode()
    assert "22 cells" in page and "<title>95000–99998</title>" in page and "common?" not in page
    assert "Do people round to multiples of 5000?" in page
    page = desk.post(address, GAIN | {"single_values": "0 5000 … 95000, 99999"}).content.decode()
    assert "41 cells" in page and "Do people round" not in page


@pytest.mark.parametrize(
    ("attribute", "asked"),
    [
        (Integer("x", lower=0, upper=119, width=5), ["0"]),
        (Integer("x", lower=0, upper=99), []),
        (Integer("x", lower=1, upper=99, width=10), ["99"]),
        (Real("x", lower=-5.0, upper=100000.0, bins=20), ["0", "100000"]),
        (Real("x", lower=0.0, upper=1.0, bins=4, single_values=(0.0,)), []),
        (Boolean("x"), []),
    ],
)
def test_what_is_asked_about_follows_from_the_declaration(attribute, asked):
    assert common_values(attribute) == asked


@pytest.mark.parametrize(
    ("attribute", "asked"),
    [
        (Integer("hours", lower=1, upper=99, width=10), ("10", "10 20 … 90", 9)),
        (Integer("hours", lower=1, upper=99, width=2), ("5", "5 10 … 95", 19)),
        (Integer("gain", lower=0, upper=99999, width=5000), ("5000", "0 5000 … 95000", 20)),
        (Integer("age", lower=17, upper=90, edges=(17, 25, 65, 90)), ("10", "20 30 … 90", 8)),
        (Real("dose", lower=0.0, upper=1.0, bins=10), ("0.1", "0 0.1 … 1", 11)),
        (Integer("hours", lower=1, upper=99), None),
        (Integer("hours", lower=1, upper=99, width=10, single_values=(40,)), None),
        (Integer("gain", lower=0, upper=99999, width=1000), None),
        (Boolean("x"), None),
    ],
)
def test_round_numbers_are_asked_about_where_bins_hold_few_of_them(attribute, asked):
    found = round_numbers(attribute)
    assert (found and (found.step, found.text, found.count)) == asked
    if found:
        assert len(numbers_listed(found.text, type(attribute.lower))) == found.count


@pytest.mark.parametrize(
    ("text", "number", "listed"),
    [
        ("0; 10 20 … 50, 99", int, [0, 10, 20, 30, 40, 50, 99]),
        ("0.1 0.2...0.5", float, [0.1, 0.2, 0.3, 0.4, 0.5]),
        ("9 6 … 0", int, [9, 6, 3, 0]),
        ("10 … 50", int, None),
        ("10 20 …", int, None),
        ("10 20 … 55", int, None),
        ("10 10 … 50", int, None),
        ("0 1 … 99999999", int, None),
    ],
)
def test_dots_stand_for_equal_steps(text, number, listed):
    if listed is None:
        with pytest.raises(ValueError, match=r"dots|steps"):
            numbers_listed(text, number)
    else:
        assert numbers_listed(text, number) == listed


def test_single_values_are_saved_and_shown_again(desk, dataset):
    address = reverse("datasets:column", args=[dataset.pk, 1])
    assert desk.post(address, GAIN | {"single_values": "0 99999"}).status_code == 302
    declared = dataset.current_domain().domain().attributes[1]
    assert declared == Integer("age", lower=0, upper=99999, width=5000, single_values=(0, 99999))
    assert 'value="0 99999"' in desk.get(address).content.decode()
    dose = {
        "kind": "real",
        "lower": "0",
        "upper": "2",
        "binning": "width",
        "bins": "4",
        "single_values": "0.25",
    }
    assert desk.post(address, dose).status_code == 302
    assert dataset.current_domain().domain().attributes[1].labels()[:3] == [
        "0 to 0.25",
        "0.25",
        "above 0.25 to 0.5",
    ]


@pytest.mark.parametrize(
    ("typed", "reason"), [("zero", "Write these values as numbers"), ("100000", "must lie within the limits")]
)
def test_single_values_that_are_none_are_refused_beside_their_field(desk, dataset, typed, reason):
    answer = desk.post(reverse("datasets:column", args=[dataset.pk, 1]), GAIN | {"single_values": typed})
    assert answer.status_code == 422 and reason in answer.content.decode()


def test_saving_goes_on_to_the_next_column(desk, dataset):
    address = reverse("datasets:column", args=[dataset.pk, 0])
    answer = desk.post(address, {"kind": "boolean", "next": "1"})
    assert answer.url == reverse("datasets:column", args=[dataset.pk, 1])


def test_a_declaration_used_by_a_release_is_kept_and_a_new_version_begun(desk, dataset):
    release = building.requested_release(dataset)
    services.declare(dataset, "age", Integer("age", lower=0, upper=9))
    assert dataset.current_domain().version == 2
    assert Release.objects.get(pk=release.pk).domain_version.version == 1


def test_a_vouched_for_column_is_filled_and_marked(desk, dataset):
    desk.post(reverse("datasets:fill_column", args=[dataset.pk, 0]), {"public": "on"})
    [filled] = dataset.current_domain().attributes.filter(filled_from_data=True)
    assert filled.column == "colour"
    assert set(filled.declared().values) == {"red", "green", "blue"}


def test_a_value_with_a_sign_that_nobody_sees_is_not_filled_in():
    """It takes a label, which a person has to give; the column is declared without it."""
    found = {"kind": "text", "values": ["red", "gre\u202een", "a\nb"]}
    assert attribute_of_range("colour", found).values == ("red", "a\nb")


def test_a_label_called_like_the_cell_for_the_rest_is_told_to_share_it(desk, dataset):
    form = {"kind": "categorical", "values": "1 = Man\n3 = Other", "with_words": "on", "closed": "open"}
    answer = desk.post(reverse("datasets:column", args=[dataset.pk, 0]), form, follow=True)
    assert "colour: what is called “Other” shares a cell" in answer.content.decode()
    closed = {**form, "values": "1 = Man\n3 = missing", "missing_cell": "on"}
    answer = desk.post(reverse("datasets:column", args=[dataset.pk, 0]), closed)
    assert answer.status_code == 422
    assert "already the name of a cell" in answer.content.decode()


def test_a_value_called_other_shares_the_cell_for_the_rest(desk, dataset):
    form = {"kind": "categorical", "values": "red\nOther", "closed": "open"}
    answer = desk.post(reverse("datasets:column", args=[dataset.pk, 0]), form, follow=True)
    assert "colour: what is called “Other” shares a cell" in answer.content.decode()
    colour = declared_of(dataset)["colour"]
    assert colour.cells == ("red", "Other") and colour.other == 1
    answer = desk.post(
        reverse("datasets:column", args=[dataset.pk, 0]), {**form, "values": "red\nother"}, follow=True
    )
    assert answer.status_code == 422 and "Write “Other” in the list" in answer.content.decode()


def test_a_column_that_does_not_exist_is_404(desk, dataset):
    assert desk.get(reverse("datasets:column", args=[dataset.pk, 2])).status_code == 404


def test_another_curators_domain_is_404(client, dataset, other_curator):
    client.force_login(other_curator)
    assert client.get(reverse("datasets:domain", args=[dataset.pk])).status_code == 404


def test_the_datasets_page_says_the_declaration_in_the_words_of_the_domain_page(desk, dataset):
    page = desk.get(reverse("datasets:home", args=[dataset.pk])).content.decode()
    assert "<td>Categories</td>" in page and "<td>Whole numbers</td>" in page
    assert "<dt>Who is protected</dt><dd>Each row, as one person, added or removed" in page
    services.declare_unit(dataset, neighbours="replace-one", unit_column="colour", max_rows=1)
    page = desk.get(reverse("datasets:home", args=[dataset.pk])).content.decode()
    assert "Each person in “colour”, replaced by another; at most 1 row of each counts" in page


def test_yes_and_no_have_the_values_of_the_table_and_labels():
    form = AttributeForm(
        {"kind": "boolean", "missing_cell": "on", "no": "0 = female", "yes": "1 = male"}, column="sex"
    )
    assert form.is_valid()
    attribute = form.attribute()
    assert attribute == Boolean("sex", True, ("0", "1"), ("female", "male"), closed=True)
    again = initial_of(attribute, "sex")
    assert (again["no"], again["yes"]) == ("0 = female", "1 = male")
    for no, yes in (("female", ""), ("0 = female", "male")):
        assert not AttributeForm({"kind": "boolean", "no": no, "yes": yes}, column="sex").is_valid()


def test_the_summary_of_what_is_wrong_is_in_the_reader_s_language(desk, dataset):
    address = reverse("datasets:column", args=[dataset.pk, 0])
    page = desk.post(
        address, {"kind": "categorical", "values": ""}, headers={"accept-language": "zh-hans"}
    ).text
    assert "declare at least one value" not in page and page.count("请至少声明一个值") == 2
