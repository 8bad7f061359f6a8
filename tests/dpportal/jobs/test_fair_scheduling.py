"""One person's many jobs do not keep another's waiting."""

from __future__ import annotations

import pytest

from dpportal.accounts.models import Role
from dpportal.datasets.models import Conversion, Dataset
from dpportal.jobs import claims
from dpportal.jobs.claims import JobState
from dpportal.jobs.fair_scheduling import next_of, run_fairly
from tests.dpportal import building

pytestmark = pytest.mark.django_db


def uploads(name: str, number: int) -> list[Conversion]:
    owner = building.person(name, Role.CURATOR)
    datasets = [Dataset.objects.create(owner=owner, name=f"{name} {i}") for i in range(number)]
    return [Conversion.objects.create(dataset=dataset) for dataset in datasets]


def served(messages: list[Conversion], taken: tuple[str, ...] = ()) -> list[str]:
    """The names of the tables in the order in which one worker reads them; `taken` are gone when it looks."""
    order: list[str] = []

    def work(pk: object) -> bool:
        name = Dataset.objects.get(pk=pk).name
        if name in taken or claims.claim(Conversion, pk) is None:
            return False
        Conversion.objects.filter(pk=pk).update(state=JobState.DONE)
        order.append(name)
        return True

    for message in messages:
        run_fairly(Conversion, message.pk, "dataset__owner_id", work)
    return order


@pytest.mark.slow
def test_whoever_comes_late_with_one_is_next():
    many, one = uploads("busy", 30), uploads("late", 1)
    assert served([*many, *one])[:3] == ["busy 0", "late 0", "busy 1"]


def test_everything_is_done_once_and_each_person_s_in_order():
    many, few = uploads("busy", 5), uploads("other", 2)
    order = served([*many, *few])
    assert order == ["busy 0", "other 0", "busy 1", "other 1", "busy 2", "busy 3", "busy 4"]


def test_a_message_whose_job_was_done_in_another_s_turn_does_what_is_left():
    first, second = uploads("first", 1), uploads("second", 1)
    assert served([*second, *first]) == ["first 0", "second 0"]


def test_a_message_about_nothing_does_nothing():
    [only] = uploads("only", 1)
    assert served([only, only]) == ["only 0"]


def test_a_job_that_another_worker_took_meanwhile_costs_the_message_nothing():
    first, second = uploads("first", 1), uploads("second", 1)
    assert served([*second], taken=("first 0",)) == ["second 0"]
    assert first[0].state == JobState.QUEUED


def test_one_person_s_files_are_read_one_at_a_time_so_two_readers_are_never_both_taken():
    many, other = uploads("busy", 3), uploads("other", 1)
    assert claims.claim(Conversion, many[0].pk) is not None
    begun: list[str] = []

    def work(pk: object) -> bool:
        begun.append(Dataset.objects.get(pk=pk).name)
        return claims.claim(Conversion, pk) is not None

    run_fairly(Conversion, many[1].pk, "dataset__owner_id", work, singly=True)
    assert begun == ["other 0"]
    for message in (many[1], many[2], other[0]):
        run_fairly(Conversion, message.pk, "dataset__owner_id", work, singly=True)
    assert begun[1:] == ["other 0"], "it was there to be done for its own message, and nothing else was begun"
    assert next_of(Conversion, many[0].pk, "dataset__owner_id") == many[1].pk


def test_a_file_whose_reader_died_keeps_its_owner_s_next_one_not_waiting():
    many = uploads("busy", 2)
    assert claims.claim(Conversion, many[0].pk) is not None
    Conversion.objects.filter(pk=many[0].pk).update(lease_until="2001-01-01T00:00Z")
    begun: list[object] = []
    run_fairly(Conversion, many[1].pk, "dataset__owner_id", lambda pk: not begun.append(pk), singly=True)
    assert begun == [many[1].pk]
