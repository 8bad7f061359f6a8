"""Many periods at once by a program: previewed, confirmed, dropped, stopped; and the curator's comparison."""

from __future__ import annotations

from uuid import uuid4

import pytest

from dpportal.accounts.models import AuditEntry
from dpportal.api import repeating
from dpportal.api.models import Scope
from dpportal.platform import storage
from dpportal.streams.job_execution import STREAM_JOBS
from dpportal.streams.models import StreamJob
from tests.dpportal.api.calling import Program
from tests.dpportal.streams import building
from tests.dpportal.unlocked_storage import unlocked_storage

LINES = "period,count\n1,5\n2,3\n3,4\n"


@pytest.fixture
def stream(dataset):
    return building.open_stream(dataset)


def files(stream) -> str:
    return f"/streams/{stream.pk}/period-files"


def sent(program, stream, lines: str = LINES, status: int = 202, **headers: str) -> dict:
    return program.said("post", files(stream), {"lines": lines}, status, **headers)


def checked(program, stream, lines: str = LINES) -> dict:
    """A file that was sent, once a worker has read it."""
    file = sent(program, stream, lines)
    STREAM_JOBS.run(StreamJob.objects.get(pk=file["id"]).pk)
    return program.said("get", f"{files(stream)}/{file['id']}")


def test_periods_are_published_once_they_are_confirmed(program, stream):
    file = checked(program, stream)
    told = {"first": "1", "last": "3", "new": 3, "repeated": 0, "clipped": 0, "missing": 0}
    assert (file["kind"], file["preview"], stream.periods.count()) == ("counts", told, 0)
    assert program.said("get", f"/streams/{stream.pk}")["file"] == file
    path = f"{files(stream)}/{file['id']}"
    confirmed = program.said("post", f"{path}/confirm", status=202)
    assert confirmed["job"]["state"] == "queued"
    assert program.said("post", f"{path}/confirm", status=202) == confirmed
    STREAM_JOBS.run(file["id"])
    assert stream.periods.count() == 3
    line = AuditEntry.objects.get(action="confirmed a file of periods")
    assert (line.detail, line.subject) == ("periods 1 to 3", f"stream {stream.pk}")
    done = program.said("post", f"{path}/confirm", status=202)
    assert (done["job"]["state"], done["preview"]) == ("done", None)
    program.said("delete", path, status=409)
    program.said("post", f"{path}/stop", status=409)


def test_what_is_sent_again_with_its_key_is_one_file_whatever_is_in_it(program, stream):
    """Else whoever has the token could try out the true counts."""
    key = str(uuid4())
    first = sent(program, stream, Idempotency_Key=key)
    assert sent(program, stream, LINES.replace("5", "6"), 200, Idempotency_Key=key) == first
    assert stream.jobs.exclude(kind=StreamJob.Kind.OPEN).count() == 1


def test_no_lock_is_held_while_a_file_of_periods_is_stored(program, stream):
    with unlocked_storage():
        sent(program, stream, Idempotency_Key=str(uuid4()))


def test_a_file_of_periods_whose_key_is_taken_meanwhile_leaves_nothing(program, stream, monkeypatch):
    key = str(uuid4())
    first = sent(program, stream, Idempotency_Key=key)
    program.said("post", f"{files(stream)}/{first['id']}/stop")
    before = set(storage.names_under("records"))
    monkeypatch.setattr(repeating.RepeatableRequest, "earlier", lambda _request: None)  # it was asked before
    sent(program, stream, status=409, Idempotency_Key=key)
    assert StreamJob.objects.filter(kind="counts").count() == 1
    assert set(storage.names_under("records")) == before


def test_a_file_is_dropped_or_stopped_once_and_for_all(program, stream):
    path = f"{files(stream)}/{checked(program, stream)['id']}"
    for _ in range(2):
        program.said("delete", path, status=204)
    program.said("post", f"{path}/confirm", status=409)
    at_work = f"{files(stream)}/{sent(program, stream)['id']}"
    for _ in range(2):
        assert program.said("post", f"{at_work}/stop")["job"]["state"] == "cancelled"
    assert stream.periods.count() == 0
    assert AuditEntry.objects.filter(action="stopped a file").count() == 1


def test_another_file_than_the_one_that_was_seen_is_not_confirmed(program, stream):
    seen = checked(program, stream)
    newer = checked(program, stream, "period,count\n1,500\n")
    program.said("post", f"{files(stream)}/{seen['id']}/confirm", status=409)
    program.said("delete", f"{files(stream)}/{newer['id']}", status=204)
    sent(program, stream)
    program.said("post", f"{files(stream)}/{newer['id']}/stop")
    assert stream.jobs.get(kind=StreamJob.Kind.COUNTS, state="queued")


def test_the_opening_is_no_file_and_neither_is_that_of_another_running_count(program, dataset):
    one, other = (building.open_stream(dataset, amount=amount) for amount in building.HALVES)
    file = sent(program, other)["id"]
    for known in (file, one.jobs.get().pk, uuid4()):
        program.said("get", f"{files(one)}/{known}", status=404)
        program.said("post", f"{files(one)}/{known}/stop", status=404)


def test_a_comparison_has_the_figures_of_the_page_and_is_recorded(client, curator, program, stream):
    path = f"/streams/{stream.pk}/comparison"
    nothing = program.said("get", path, status=409)
    file = checked(program, stream)
    program.said("post", f"{files(stream)}/{file['id']}/confirm", status=202)
    STREAM_JOBS.run(file["id"])
    seen = program.said("get", path)
    assert "nothing to compare" in nothing["detail"]
    assert [dict(zip(seen["header"], row, strict=True))["true"] for row in seen["table"]] == [12, 8, 5]
    assert AuditEntry.objects.filter(subject=f"stream {stream.pk}", action="viewed true counts").count() == 1
    client.force_login(curator)
    page = client.get(f"/streams/{stream.pk}/compare/").context
    figures = ("inside", "root_mean_error", "never_falling_error", "expected_error", "largest_error", "unit")
    assert {name: seen[name] for name in figures} == {name: page[name] for name in figures}
    program.said("get", f"{path}?count=1", status=404)


def test_reading_is_no_right_to_send_stop_or_compare(curator, program, stream):
    file = checked(program, stream)
    reader = Program(curator, Scope.READ)
    assert reader.said("get", f"{files(stream)}/{file['id']}") == file
    for method, path in (
        ("post", files(stream)),
        ("post", f"{files(stream)}/{file['id']}/confirm"),
        ("post", f"{files(stream)}/{file['id']}/stop"),
        ("delete", f"{files(stream)}/{file['id']}"),
        ("get", f"/streams/{stream.pk}/comparison"),
    ):
        reader.said(method, path, {"lines": LINES} if path == files(stream) else None, 403)
