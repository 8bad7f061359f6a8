"""A coarser column beside a finer one: made by the declaration, counted from the same column of the table."""

import datetime as dt

import numpy as np
import pytest
from django.urls import reverse

from dpportal.datasets import records, services
from dpportal.datasets.coarser import by_edges, by_groups, by_step
from dpportal.releases import drafts
from dpportal.releases.models import Release
from dpportal.releases.products import DraftError
from mechanisms.domain import Categorical, Date, Domain, DomainError, Integer, Real, attribute_from_json
from tests.dpportal import building

COLOURS = Categorical("colour", values=("red", "green", "blue"))
AGE = Integer("age", lower=0, upper=99, width=10)


@pytest.fixture
def desk(client, dataset):
    client.force_login(dataset.owner)
    return client


def post(desk, dataset, position: int, **said: str):
    return desk.post(reverse("datasets:coarser", args=[dataset.pk, position]), said)


def counted(dataset, *names: str) -> list[int]:
    version = dataset.current_domain()
    domain = version.domain().project(names)
    return records.count(dataset, version, domain, b"key").tolist()


@pytest.mark.slow
def test_groups_of_values_are_a_column_of_their_own(desk, dataset):
    answer = post(desk, dataset, 0, name="warm", groups="green = cold\nred = warm\nblue = cold")
    assert answer.status_code == 302, answer.content.decode()
    assert dataset.current_domain().domain().names == ("colour", "warm", "age")
    assert counted(dataset, "warm") == [100, 200, 0]
    assert counted(dataset, "colour") == [100, 100, 100, 0]


@pytest.mark.slow
def test_edges_make_groups_of_ages(desk, dataset):
    assert post(desk, dataset, 1, name="age group", edges="0, 20, 60, 99").status_code == 302
    assert counted(dataset, "age group") == [60, 120, 120]
    assert counted(dataset, "colour", "age group") == [20, 40, 40, 20, 40, 40, 20, 40, 40, 0, 0, 0]


@pytest.mark.parametrize("edges", ["0, 15, 99", "0, 20", "20, 0, 99", "a, b", "0, 20, 20, 99", ""])
def test_edges_inside_a_bin_of_the_finer_column_are_refused(desk, dataset, edges):
    assert post(desk, dataset, 1, name="age group", edges=edges).status_code == 422
    assert len(dataset.current_domain().attributes.all()) == 2


def test_edges_of_whole_numbers_are_whole(desk, dataset):
    answer = post(desk, dataset, 1, name="age group", edges="0, 18.5, 99")
    assert "Write whole numbers between commas" in answer.content.decode()


@pytest.mark.parametrize(
    "groups",
    [
        "red = warm\ngreen = cold",
        "red = warm\ngreen = cold\nblue = cold\npink = warm",
        "red = a\nred = a\ngreen = b\nblue = b",
        "red = a\ngreen = b\nblue = c",
        "red, green, blue",
    ],
)
def test_every_value_has_one_group_and_some_share_one(desk, dataset, groups):
    assert post(desk, dataset, 0, name="warm", groups=groups).status_code == 422


@pytest.mark.parametrize("name", ["age", "colour", "taken"])
def test_a_name_that_is_taken_is_refused(desk, dataset, name):
    services.declare(dataset, "taken", by_edges(AGE, "taken", (0, 50, 99)))
    groups = "red = warm\ngreen = cold\nblue = cold"
    assert post(desk, dataset, 0, name=name, groups=groups).status_code == 422
    assert dataset.current_domain().domain().names == ("colour", "age", "taken")


def test_a_coarser_column_is_not_replaced_by_another_of_its_name(desk, dataset):
    post(desk, dataset, 1, name="age group", edges="0, 20, 60, 99")
    answer = post(desk, dataset, 1, name="age group", edges="0, 50, 99")
    assert answer.status_code == 422 and "of this name already. Remove it" in answer.content.decode()
    assert counted(dataset, "age group") == [60, 120, 120]


def test_both_in_one_release_are_refused_with_a_reason(desk, dataset):
    services.declare(dataset, "age group", by_edges(AGE, "age group", (0, 50, 99)))
    draft = building.complete_draft(dataset)
    said = {"columns": ["age", "age group"], "people": "300"}
    page = desk.post(reverse("releases:columns", args=[draft.pk]), said)
    assert page.status_code == 422
    assert "age, age group are made of the same column" in page.text
    Release.objects.filter(pk=draft.pk).update(columns=["age group", "age"])
    draft.refresh_from_db()
    with pytest.raises(DraftError, match="same column"):
        drafts.plan_of(draft)


@pytest.mark.slow
def test_the_coarser_column_is_released_by_itself(dataset):
    from dpportal.releases.execution import RELEASES

    services.declare(dataset, "age group", by_edges(AGE, "age group", (0, 50, 99)))
    draft = building.complete_draft(dataset)
    Release.objects.filter(pk=draft.pk).update(columns=["colour", "age group"])
    draft.refresh_from_db()
    building.confirm(draft)
    RELEASES.run(draft.pk)
    draft.refresh_from_db()
    assert draft.state == Release.State.READY
    assert np.array(records.stored_counts(draft.true_counts)).tolist() == [50, 50, 50, 50, 50, 50, 0, 0]


def test_both_are_counted_together_where_a_look_at_the_fit_needs_it(dataset):
    """Of the finer and the coarser column every row agrees."""
    services.declare(dataset, "tens", by_edges(AGE, "tens", (0, 50, 99)))
    table = np.array(counted(dataset, "age", "tens")).reshape(10, 2)
    assert table.tolist() == [[30, 0]] * 5 + [[0, 30]] * 5


def test_what_fits_nothing_goes_where_its_cell_went():
    finer = Categorical("edu", closed=True, values=("1", "2", "3"), misfits_to=2)
    made = by_groups(finer, "level", ("low", "high", "high"))
    assert (made.cells, made.misfits_to, made.column) == (("low", "high"), 1, "edu")
    ages = Integer("age", lower=0, upper=99, width=10, closed=True, misfits_to=3)
    assert by_edges(ages, "group", (0, 30, 99)).misfits_to == 1
    assert attribute_from_json(made.to_json()) == made


def test_longer_steps_hold_whole_periods():
    days = Date("day", lower=dt.date(2020, 1, 1), upper=dt.date(2020, 12, 31), step="day")
    assert by_step(days, "quarter", "quarter").size == 4
    months = Date("month", lower=dt.date(2020, 1, 1), upper=dt.date(2020, 12, 31), step="month")
    with pytest.raises(DomainError, match="longer step"):
        by_step(months, "week", "week")


def test_real_edges_are_those_of_the_finer_column():
    finer = Real("income", lower=0.0, upper=1.0, bins=10)
    assert by_edges(finer, "rich", (0.0, 0.3, 1.0)).size == 2  # 0.3 as the bins have it, not 3 * 0.1
    with pytest.raises(DomainError, match="Every edge"):
        by_edges(finer, "rich", (0.0, 0.25, 1.0))


def test_single_values_go_with_the_groups_that_hold_them():
    gain = Integer("gain", lower=0, upper=99, width=10, single_values=(0, 25), closed=True, misfits_to=3)
    groups = by_edges(gain, "group", (0, 1, 25, 99))
    assert groups.labels() == ["0", "1–24", "25–99"] and groups.misfits_to == 1
    dose = Real("dose", lower=0.0, upper=9.0, bins=3, single_values=(0.0,))
    assert by_edges(dose, "group", (0.0, 3.0, 9.0)).labels() == ["0 to 3", "3 to 9"]


def test_a_copy_and_a_new_version_keep_the_order(dataset):
    services.declare(dataset, "warm", by_groups(COLOURS, "warm", ("warm", "cold", "cold")))
    version = dataset.current_domain()
    type(version).objects.filter(pk=version.pk).update(frozen=True)
    services.declare(dataset, "colour", COLOURS)
    assert dataset.current_domain().version == version.version + 1
    assert dataset.current_domain().domain().names == ("colour", "warm", "age")


def test_it_is_removed_alone(desk, dataset):
    services.declare(dataset, "warm", by_groups(COLOURS, "warm", ("warm", "cold", "cold")))
    address = reverse("datasets:remove_coarser", args=[dataset.pk, 0])
    desk.post(address, {"name": "colour"})
    assert dataset.current_domain().domain().names == ("colour", "warm", "age")
    desk.post(address, {"name": "warm"})
    assert dataset.current_domain().domain() == Domain((COLOURS, AGE))
