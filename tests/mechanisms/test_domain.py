from __future__ import annotations

import datetime as dt
import json
import math
from typing import Any

import pytest

from mechanisms.domain import (
    Attribute,
    Boolean,
    Categorical,
    Date,
    Domain,
    DomainError,
    Integer,
    Real,
    attribute_from_json,
)

SEX = Categorical("sex", values=("female", "male"))
AGE = Integer("age", lower=17, upper=90, width=10)
WEIGHT = Real("weight", lower=0.0, upper=1.0, bins=4)
ADMITTED = Date("admitted", lower=dt.date(2024, 1, 15), upper=dt.date(2024, 3, 10))
INSURED = Boolean("insured", missing_cell=True)
GAIN = Integer("gain", lower=0, upper=99999, width=5000, single_values=(0, 99999))
DOSE = Real("dose", True, lower=0.0, upper=9.0, edges=(0.0, 1.5, 9.0), single_values=(0.0, 2.5))
ALL = [SEX, AGE, WEIGHT, ADMITTED, INSURED, GAIN, DOSE]


def test_other_is_added_to_declared_values() -> None:
    assert SEX.labels() == ["female", "male", "Other"]


def test_other_is_not_added_twice() -> None:
    attribute = Categorical("x", values=("Other", "a"))
    assert (attribute.labels(), attribute.other) == (["Other", "a"], 0)


def test_a_missing_cell_comes_last() -> None:
    assert (INSURED.labels(), INSURED.missing) == (["false", "true", "Missing"], 2)


def test_without_a_missing_cell_missing_values_go_to_other() -> None:
    assert SEX.missing == 2


def test_integer_bins_end_at_the_upper_bound() -> None:
    assert [AGE.bounds(i) for i in (0, 7)] == [(17, 26), (87, 90)]


def test_integer_bins_cover_the_bounds_once() -> None:
    covered = [x for cell in range(AGE.size) for x in range(AGE.bounds(cell)[0], AGE.bounds(cell)[1] + 1)]
    assert covered == list(range(17, 91))


def test_bins_of_one_value_are_labelled_by_it() -> None:
    assert Integer("x", lower=-1, upper=1).labels() == ["-1", "0", "1"]


def test_the_last_bin_of_own_integer_edges_holds_the_upper_bound() -> None:
    attribute = Integer("x", lower=0, upper=100, edges=(0, 18, 65, 100))
    assert attribute.labels() == ["0–17", "18–64", "65–100"]


def test_real_bins_have_equal_width() -> None:
    assert WEIGHT.labels() == ["0 to 0.25", "0.25 to 0.5", "0.5 to 0.75", "0.75 to 1"]


@pytest.mark.parametrize(
    ("lower", "upper", "bins", "edge"),
    [(0.0, 1.0, 3, "0.3333"), (0.0, 100.0, 3, "33.33"), (0.0, 1e6, 7, "142857"), (4.0, 14.0, 100, "4.1")],
)
def test_edges_between_real_bins_have_no_more_digits_than_tell(
    lower: float, upper: float, bins: int, edge: str
) -> None:
    first = Real("x", lower=lower, upper=upper, bins=bins).labels()[0]
    assert first.partition(" to ")[2] == edge


def test_declared_bounds_keep_their_digits() -> None:
    labels = Real("x", lower=0.1234567891, upper=1.0, bins=3).labels()
    assert labels[0].startswith("0.1234567891 to 0.41") and labels[-1].endswith(" to 1")


def test_own_real_edges_are_the_bins() -> None:
    attribute = Real("x", lower=0.0, upper=9.0, edges=(0.0, 1.5, 9.0))
    assert [attribute.bounds(i) for i in range(attribute.size)] == [(0.0, 1.5), (1.5, 9.0)]


def test_single_values_part_the_bins_that_hold_them() -> None:
    gain = Integer("gain", True, lower=0, upper=99, width=50, single_values=(0, 60, 99))
    assert gain.labels() == ["0", "1–49", "50–59", "60", "61–98", "99", "Missing"]
    assert gain.single_cells == (0, 3, 5)
    assert [gain.bounds(cell) for cell in (0, 1, 5)] == [(0, 0), (1, 49), (99, 99)]


def test_a_single_value_that_has_a_cell_already_adds_none() -> None:
    ages = Integer("age", lower=0, upper=9, single_values=(0, 9))
    assert (ages.size, ages.single_cells, ages.is_even) == (10, (0, 9), True)


def test_single_real_values_part_the_bins_that_hold_them() -> None:
    dose = Real("dose", lower=0.0, upper=10.0, bins=2, single_values=(0.0, 2.5, 10.0))
    labels = ["0", "above 0 to 2.5", "2.5", "above 2.5 to 5", "5 to 10", "10"]
    assert (dose.labels(), dose.single_cells) == (labels, (0, 2, 5))
    assert [dose.bounds(cell) for cell in (1, 2, 5)] == [(0.0, 2.5), (2.5, 2.5), (10.0, 10.0)]
    assert dose.all_edges == (0.0, 5e-324, 2.5, math.nextafter(2.5, 3), 5.0, 10.0, 10.0)


def test_cells_beside_single_values_are_numbered_without_listing_them() -> None:
    wide = Integer("x", lower=0, upper=10**18, single_values=(0, 10**18))
    assert (wide.regular_size, wide.is_even) == (10**18 + 1, True)
    assert Integer("x", lower=0, upper=10**18, width=2, single_values=(6,)).regular_size == 5 * 10**17 + 2


@pytest.mark.parametrize(
    ("attribute", "fields", "message"),
    [
        (Integer, {"lower": 0, "upper": 9, "single_values": (10,)}, "within the limits"),
        (Integer, {"lower": 0, "upper": 9, "single_values": (3, 3)}, "once, in rising order"),
        (Integer, {"lower": 0, "upper": 999, "single_values": tuple(range(101))}, "at most 100 values"),
        (Real, {"single_values": (math.nan,)}, "within the limits"),
        (Real, {"bins": 10**7, "single_values": (0.5,)}, "at most 1,000,000 bins"),
    ],
)
def test_single_values_that_cannot_be_cells_are_refused(
    attribute: type[Attribute], fields: dict[str, Any], message: str
) -> None:
    with pytest.raises(DomainError, match=message):
        attribute("x", **fields)


@pytest.mark.parametrize(
    ("step", "labels"),
    [
        ("month", ["2024-01", "2024-02", "2024-03"]),
        ("quarter", ["2024-Q1"]),
        ("year", ["2024"]),
    ],
)
def test_dates_are_grouped_by_calendar_step(step: str, labels: list[str]) -> None:
    assert Date("x", lower=ADMITTED.lower, upper=ADMITTED.upper, step=step).labels() == labels  # type: ignore[arg-type]


def test_weeks_start_on_monday() -> None:
    # 2024-01-15 is a Monday; 2024-01-21 is the Sunday of that week.
    week = Date("x", lower=dt.date(2024, 1, 15), upper=dt.date(2024, 1, 22), step="week")
    assert [week.bounds(i) for i in range(week.size)] == [
        (dt.date(2024, 1, 15), dt.date(2024, 1, 21)),
        (dt.date(2024, 1, 22), dt.date(2024, 1, 22)),
    ]


def test_the_first_and_last_month_stop_at_the_bounds() -> None:
    assert ADMITTED.bounds(0) == (dt.date(2024, 1, 15), dt.date(2024, 1, 31))
    assert ADMITTED.bounds(2) == (dt.date(2024, 3, 1), dt.date(2024, 3, 10))


@pytest.mark.parametrize("step", ["day", "week", "month", "quarter", "year"])
def test_days_of_a_cell_are_the_days_of_its_period(step: str) -> None:
    attribute = Date("x", lower=dt.date(2023, 11, 9), upper=dt.date(2024, 3, 10), step=step)  # type: ignore[arg-type]
    origin = attribute.period(attribute.lower)
    cells = [
        attribute.period(day) - origin for cell in range(attribute.size) for day in attribute.bounds(cell)
    ]
    assert cells == [cell for cell in range(attribute.size) for _ in range(2)]


def test_a_domain_ending_on_the_last_day_of_the_calendar_has_bounds() -> None:
    attribute = Date("x", lower=dt.date(9998, 1, 1), upper=dt.date.max, step="year")
    assert attribute.bounds(1) == (dt.date(9999, 1, 1), dt.date.max)


def test_the_size_of_a_domain_is_the_product() -> None:
    domain = Domain((SEX, AGE, INSURED))
    assert (domain.shape, domain.size) == ((3, 8, 3), 72)


def test_the_size_of_a_domain_never_overflows() -> None:
    columns = tuple(Integer(f"c{i}", lower=0, upper=10**6 - 1) for i in range(10))
    assert Domain(columns).size == 10**60


def test_a_projection_keeps_the_order_asked_for() -> None:
    assert Domain((SEX, AGE, INSURED)).project(["insured", "sex"]).names == ("insured", "sex")


@pytest.mark.parametrize("attribute", ALL, ids=lambda a: a.name)
def test_labels_are_as_many_as_cells(attribute: Attribute) -> None:
    assert len(attribute.labels()) == attribute.size


@pytest.mark.parametrize("attribute", ALL, ids=lambda a: a.name)
def test_json_brings_an_attribute_back(attribute: Attribute) -> None:
    assert attribute_from_json(json.loads(json.dumps(attribute.to_json()))) == attribute


def test_json_brings_own_edges_back() -> None:
    attribute = Integer("x", lower=0, upper=9, edges=(0, 3, 9))
    assert attribute_from_json(json.loads(json.dumps(attribute.to_json()))) == attribute


def test_json_brings_a_domain_back() -> None:
    domain = Domain((SEX, ADMITTED))
    assert Domain.from_json(json.loads(json.dumps(domain.to_json()))) == domain


def _integer(**fields: object) -> Integer:
    return Integer("x", **{"lower": 0, "upper": 9, **fields})  # type: ignore[arg-type]


def _real(**fields: object) -> Real:
    return Real("x", **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Categorical("x"), "at least one value"),
        (lambda: Categorical("x", values=("a", "a")), "declared twice"),
        (lambda: _integer(upper=-1), "lower limit is above"),
        (lambda: _integer(width=0), "bin width must be at least 1"),
        (lambda: _integer(width=0, closed=True, misfits_to=1), "bin width must be at least 1"),
        (lambda: _integer(upper=10**19), "must lie within"),
        (lambda: _integer(edges=(0, 5, 5, 9)), "must increase"),
        (lambda: _integer(edges=(0, 5)), "first and last edge"),
        (lambda: _integer(edges=(0,)), "between 2 and 10,000 bin edges"),
        (lambda: _real(lower=float("nan")), "must be finite"),
        (lambda: _real(upper=float("inf")), "must be finite"),
        (lambda: _real(lower=-1.7e308, upper=1.7e308), "must be finite"),
        (lambda: _real(lower=1.0, upper=1.0), "upper limit must be above"),
        (lambda: _real(bins=0), "at least 1 bin"),
        (lambda: Date("x", lower=dt.date(2024, 1, 2), upper=dt.date(2024, 1, 1)), "lower limit is above"),
        (lambda: Date("x", step="decade"), "group dates by one of"),  # type: ignore[arg-type]
        (lambda: Domain((SEX, SEX)), "appears twice"),
    ],
)
def test_what_cannot_be_a_domain_is_refused(make: object, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("edges", [(), (0.0, 0.25, 0.5, 3.0)])
@pytest.mark.parametrize(
    "singles", [(), (0.0,), (0.25, 0.5), (0.1, 3.0), (0.0, math.nextafter(0.25, 1), 2.999)]
)
def test_edges_of_decimals_are_found_without_listing_them(
    edges: tuple[float, ...], singles: tuple[float, ...]
) -> None:
    """Each as the one list has it, by which all engines count."""
    column = Real("x", lower=0.0, upper=3.0, bins=12, edges=edges, single_values=singles)
    found = [column.start(cell) for cell in range(column.regular_size)]
    assert tuple(found) == column.all_edges[:-1] and len(found) == column.regular_size


def test_of_a_million_decimals_none_is_listed_for_one() -> None:
    column = Real("x", lower=0.0, upper=3.0, bins=10**6, single_values=(0.0, 1.5))
    assert column.regular_size == 10**6 + 2 and column.bounds(10**6) == pytest.approx((2.999994, 2.999997))
    assert "all_edges" not in vars(column) and "_bin_edges" not in vars(column)
