"""A stream by HTTP: one answer for each thing that can be sent."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal
from typing import Any
from uuid import NAMESPACE_URL, uuid4, uuid5

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dpportal.platform.keys import Keyring
from dpportal.streams import api, execution, services
from dpportal.streams.execution import Update
from dpportal.streams.models import Period, SealedState, Stream
from dpportal.streams.series import published
from tests.dpportal.streams import building
from tests.dpportal.streams.true_sums import true_sums


@pytest.fixture
def token(stream) -> str:
    return token_of(stream)


def token_of(stream: Stream) -> str:
    token = services.renew_token(stream, stream.created_by)
    stream.refresh_from_db()
    return token


def post(stream: Stream, token: str | None, body: Any, **headers: str) -> Any:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    client = Client(enforce_csrf_checks=True)
    return client.post(f"/streams/{stream.pk}/periods", sent, "application/json", headers=headers)


def assert_nothing_happened() -> None:
    assert not Period.objects.exists()
    assert set(SealedState.objects.values_list("version", flat=True)) == {0}


def test_a_new_period_is_201_with_its_count_and_interval(stream, token) -> None:
    answer = post(stream, token, {"period": 1, "counts": 12})
    assert answer.status_code == 201
    period = Period.objects.get()
    [released] = period.released
    series = published(stream)
    assert series is not None
    half_new = int(series.increment_half_widths[0])
    assert answer.json() == {
        "period": 1,
        "begins": "1",
        "released": released,
        "interval": [released - period.half_width, released + period.half_width],
        # Nothing was before it: what is new is the count itself.
        "new": released,
        "new_interval": [released - half_new, released + half_new],
        "largest": 10**12,
    }
    assert period.source == "program"


KEYS = [f'"8e03978e-40d5-43dd-bc93-6894a57f93{ending}"' for ending in ("24", "25")]


@pytest.mark.slow
@pytest.mark.parametrize("source", Period.Source.values)
def test_guessing_a_published_count_is_answered_alike_by_all_that_is_seen_of_an_answer(
    stream, token, source: str
) -> None:
    """An attacker with the token tries 0, 1, 2 … for a period that anybody published, in any way."""
    execution.publish(stream.pk, [Update(1, (13,), source)])
    queries, answers = [], []
    for guess in (0, 12, 13, 14, 10**40):
        with CaptureQueriesContext(connection) as asked:
            answers.append(post(stream, token, {"period": 1, "counts": guess}))
        queries.append([re.sub("[0-9]+", "", query["sql"]) for query in asked])
    first = answers[0]
    assert first.status_code == 200 and first.json()["released"] == Period.objects.get().released[0]
    seen = [
        # Each request has a number of its own.
        (answer.status_code, answer.content, {**answer.headers, "X-Request-ID": ""})
        for answer in answers
    ]
    assert seen == [seen[0]] * len(seen)
    # What takes time is the database, and it is asked the same.
    assert queries == [queries[0]] * len(queries)
    assert true_sums(stream.periods.all()) == [[13]]


@pytest.mark.slow
def test_a_key_changes_nothing_of_what_a_published_period_answers(stream, token) -> None:
    first = post(stream, token, {"period": 1, "counts": 12}, **{"Idempotency-Key": KEYS[0]})
    answers = [
        post(stream, token, {"period": 1, "counts": count}, **({"Idempotency-Key": key} if key else {}))
        for count in (12, 13)
        for key in (*KEYS, KEYS[0].strip('"'), "")
    ]
    assert {(answer.status_code, answer.content) for answer in answers} == {(200, first.content)}
    assert Period.objects.get().key not in KEYS[0] and len(Period.objects.get().key) == 64


@pytest.mark.slow
def test_a_request_that_is_repeated_under_the_next_period_counts_nobody_twice(stream, token) -> None:
    key = {"Idempotency-Key": KEYS[0]}
    post(stream, token, {"period": 1, "counts": 12}, **key)
    answer = post(stream, token, {"period": 2, "counts": 12}, **key)
    assert (answer.status_code, answer.json()["why"]) == (422, "key")
    assert Period.objects.count() == 1
    assert post(stream, token, {"period": 2, "counts": 12}, **{"Idempotency-Key": KEYS[1]}).status_code == 201


@pytest.mark.parametrize(
    "key", ["", "7", "12", str(uuid5(NAMESPACE_URL, "12")), KEYS[0] * 2, "x" * 5000, "ü"]
)
def test_a_key_that_could_be_worked_out_from_a_count_is_400(stream, token, key: str) -> None:
    answer = post(stream, token, {"period": 1, "counts": 12}, **{"Idempotency-Key": key})
    assert answer.status_code == 400 and "random UUID" in answer.json()["error"]
    assert_nothing_happened()


@pytest.mark.slow
def test_a_wrong_order_is_409(stream, token) -> None:
    post(stream, token, {"period": 1, "counts": 12})
    early = post(stream, token, {"period": 3, "counts": 13})
    beyond = post(stream, token, {"period": 13, "counts": 13})
    answers = [(a.status_code, a.json()["why"]) for a in (early, beyond)]
    assert answers == [(409, "order"), (409, "horizon")]
    assert Period.objects.count() == 1


def test_a_future_period_is_409(dataset) -> None:
    stream = building.monthly_stream(dataset, first_day=dt.date(9000, 1, 1))
    answer = post(stream, token_of(stream), {"period": 1, "counts": 1})
    assert (answer.status_code, answer.json()["why"]) == (409, "future")
    assert_nothing_happened()


@pytest.mark.slow
def test_a_period_may_be_given_by_its_day(dataset) -> None:
    stream = building.monthly_stream(dataset)
    token = token_of(stream)
    first, second = (post(stream, token, {"period": day, "counts": 1}) for day in ("2020-03-01", "2020-04"))
    assert [a.json()["period"] for a in (first, second)] == [1, 2]
    assert second.json()["begins"] == "2020-04"


def test_counts_by_value(dataset) -> None:
    stream = building.open_stream(dataset, split=True)
    answer = post(
        stream, token_of(stream), {"period": 1, "counts": {"blue": 3, "red": 1, "green": 2, "Other": 0}}
    )
    assert answer.status_code == 201
    assert list(answer.json()["released"]) == ["red", "green", "blue", "Other"]


@pytest.mark.slow
def test_what_is_new_has_an_interval_of_its_own_wherever_the_answer_begins(dataset) -> None:
    stream = building.open_stream(dataset, split=True, mechanism="p-identity")
    token = token_of(stream)
    for index in (1, 2, 3):
        post(stream, token, {"period": index, "counts": {"red": 5, "green": 2, "blue": 1, "Other": 0}})
    stream.published_at = timezone.now()
    stream.save()
    whole, part = (
        Client().get(f"/streams/{stream.pk}/periods", {"from": first}).json()["periods"] for first in (1, 3)
    )
    assert part == whole[2:]
    series = published(Stream.objects.get(pk=stream.pk))
    assert series is not None
    assert [period["new"]["red"] for period in whole] == series.increments[:, 0].tolist()
    ends = [period["new_interval"]["red"] for period in whole]
    assert [(upper - lower) // 2 for lower, upper in ends] == series.increment_half_widths.tolist()


def test_counts_must_name_every_value_and_no_other(dataset) -> None:
    stream = building.open_stream(dataset, split=True)
    token, one_more = token_of(stream), {"red": 1, "green": 1, "blue": 1, "Other": 1, "pink": 1}
    for counts in ({"red": 1}, one_more, 5, [1, 2, 3, 4], {}):
        answer = post(stream, token, {"period": 1, "counts": counts})
        assert answer.status_code == 400, counts
        assert "red" in answer.json()["error"] or "Missing" in answer.json()["error"], counts
        assert "pink" not in answer.json()["error"]
    assert_nothing_happened()


def test_a_count_that_is_none_is_400(stream, token) -> None:
    for count in (-1, 1.5, 3.0, "12", None, True, [1], {"red": 1}, float("nan"), float("inf")):
        answer = post(stream, token, {"period": 1, "counts": count})
        assert (answer.status_code, bool(answer.json()["error"])) == (400, True), count
    assert_nothing_happened()


def test_a_stream_of_one_running_count_asks_for_a_number_without_names(stream, token) -> None:
    answer = post(stream, token, {"period": 1, "counts": {"red": 1}})
    assert answer.json()["error"].startswith("This stream has one running count.")


@pytest.mark.parametrize("count", [50, 51, 10**13, 10**400])
def test_a_count_above_the_declared_largest_is_published_as_that_and_the_answer_says_as_what_alone(
    dataset, count: int
) -> None:
    """Whatever was sent: no answer depends on a count, and its sender can compare."""
    stream = building.open_stream(dataset, largest_increment=50)
    answer = post(stream, token_of(stream), {"period": 1, "counts": count})
    assert (answer.status_code, set(answer.json()), answer.json()["largest"]) == (
        201,
        {"period", "begins", "released", "interval", "new", "new_interval", "largest"},
        50,
    )
    assert true_sums(stream.periods.all()) == [[50]]


def test_a_period_that_is_none_is_refused(stream, token) -> None:
    texts = ("", "soon", "2020-03-01", "9" * 40, "9" * 10)
    for period in (0, -1, 1.0, None, True, [], {}, *texts, 10**12, 10**30, 10**400):
        assert post(stream, token, {"period": period, "counts": 1}).status_code in (400, 409), period
    assert_nothing_happened()


def test_a_day_that_is_none_or_not_due_is_refused(dataset) -> None:
    stream = building.monthly_stream(dataset)
    token = token_of(stream)
    for period in ("2020-02-29", "2020-13-01", "0000-01-01", "9999-12-31", "2020-3", "٢٠٢٠-٠٣"):
        assert post(stream, token, {"period": period, "counts": 1}).status_code in (400, 409), period
    assert_nothing_happened()


def test_a_wrong_body_is_400(stream, token) -> None:
    bodies = [
        b" ",
        b"{",
        b"12",
        b"[]",
        b"null",
        b"{}",
        b"\xff\xfe",
        b"\x00",
        b'{"period": 1}',
        b'{"period": 1, "counts": 1, "more": 1}',
        b'{"period": 1, "counts": 1, "counts": 2}',
        b"[" * 100_000,
        b'{"period": 1, "counts": ' + b"9" * 5000 + b"}",
        b"period=1&counts=2",
    ]
    for body in bodies:
        answer = post(stream, token, body)
        assert answer.status_code == 400
        assert answer.json()["error"]
    assert_nothing_happened()


class Untouchable:
    """A body of 100 MB that nobody may read."""

    def read(self, *_: Any) -> bytes:
        raise AssertionError("the body was read")

    readline = read


@pytest.mark.parametrize("length", [str(100 * 2**20), "9" * 5000])
def test_a_huge_body_is_413_and_not_read(stream, token, length: str) -> None:
    environ = {
        "wsgi.input": Untouchable(),
        "CONTENT_LENGTH": length,
        "CONTENT_TYPE": "application/json",
        "HTTP_AUTHORIZATION": f"Bearer {token}",
    }
    answer = Client().generic("POST", f"/streams/{stream.pk}/periods", **environ)
    assert answer.status_code == 413
    assert_nothing_happened()


def test_the_largest_body_is_read_and_one_byte_more_is_not(stream, token) -> None:
    padded = b'{"period": 1, "counts": 1' + b" " * (api.MAX_BODY - 26) + b"}"
    assert len(padded) == api.MAX_BODY
    assert post(stream, token, padded + b" ").status_code == 413
    assert post(stream, token, padded).status_code == 201


def test_a_body_of_unknown_length_is_411(stream, token) -> None:
    address = f"/streams/{stream.pk}/periods"
    answer = Client().generic("POST", address, CONTENT_LENGTH="", HTTP_AUTHORIZATION=f"Bearer {token}")
    assert answer.status_code == 411


def test_without_a_token_401_and_with_a_wrong_one_403(stream, token) -> None:
    body = {"period": 1, "counts": 1}
    missing = post(stream, None, body)
    assert (missing.status_code, missing["WWW-Authenticate"]) == (401, "Bearer")
    basic = post(stream, None, body, Authorization="Basic abc")
    assert basic.status_code == 401
    for wrong in ("", token[:-1], token.swapcase(), "ü", "x" * 10_000):
        assert post(stream, wrong, body).status_code == 403
    assert_nothing_happened()


@pytest.mark.slow
def test_a_token_of_another_stream_and_an_unknown_stream_get_the_same_answer(dataset, stream, token) -> None:
    other = building.open_stream(dataset, amount=Decimal("0.1"))
    body = {"period": 1, "counts": 1}
    unknown = Stream(pk=uuid4())
    answers = [post(other, token, body), post(unknown, token, body)]
    assert [a.status_code for a in answers] == [403, 403]
    assert answers[0].content == answers[1].content
    assert_nothing_happened()


def test_a_renewed_token_replaces_the_old_one(stream, token) -> None:
    new = token_of(stream)
    body = {"period": 1, "counts": 1}
    assert [post(stream, t, body).status_code for t in (token, new)] == [403, 201]


def test_the_token_is_kept_as_a_digest_only(stream, token) -> None:
    assert token not in str(list(Stream.objects.values()))


def test_a_stream_that_was_closed_answers_403_because_its_token_ended(stream, token) -> None:
    services.close(stream, stream.created_by)
    assert post(stream, token, {"period": 1, "counts": 1}).status_code == 403


def test_another_key_is_503_with_what_to_do(stream, token, settings) -> None:
    settings.STREAM_KEYS = Keyring("another" * 10)
    answer = post(stream, token, {"period": 1, "counts": 1})
    assert answer.status_code == 503
    assert "stream_key" in answer.json()["error"]


def test_other_methods_are_405(stream) -> None:
    assert Client().put(f"/streams/{stream.pk}/periods", b"").status_code == 405
    assert Client().delete(f"/streams/{stream.pk}/periods").status_code == 405


@pytest.mark.slow
def test_the_series_is_public_once_it_is_published(stream, token, client) -> None:
    sent = [post(stream, token, {"period": i, "counts": 1}).json() for i in (1, 2)]
    address = f"/streams/{stream.pk}/periods"
    assert client.get(address).status_code == 404
    services.publish(stream, stream.created_by)
    series = client.get(address).json()
    assert [{**period, "largest": 10**12} for period in series["periods"]] == sent
    assert (series["name"], series["horizon"], series["next"]) == ("Red ones so far", 12, None)
    services.withdraw(stream, stream.created_by)
    assert client.get(address).status_code == 404
    client.force_login(stream.created_by)
    assert client.get(address).status_code == 200


@pytest.mark.slow
def test_a_long_series_comes_in_pages(stream, token, client, monkeypatch) -> None:
    monkeypatch.setattr(api, "PAGE_PERIODS", 2)
    for i in range(1, 6):
        post(stream, token, {"period": i, "counts": 1})
    services.publish(stream, stream.created_by)
    seen, address = [], f"/streams/{stream.pk}/periods"
    while address:
        page = client.get(address).json()
        seen += [period["period"] for period in page["periods"]]
        address = page["next"]
    assert seen == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("first", ["", "x", "-1", "1.5", "²", "9" * 30])
def test_a_strange_place_to_begin_at_is_the_beginning(stream, token, client, first: str) -> None:
    post(stream, token, {"period": 1, "counts": 1})
    services.publish(stream, stream.created_by)
    assert client.get(f"/streams/{stream.pk}/periods", {"from": first}).status_code == 200


@pytest.mark.slow
def test_errors_and_logs_hold_no_count_and_no_token(stream, token, caplog) -> None:
    post(stream, token, {"period": 1, "counts": 12345671})
    for period, count in [(1, 87654321), (5, 87654322), (2, -87654323)]:
        answer = post(stream, token, {"period": period, "counts": count})
        assert "8765432" not in answer.content.decode()
    assert "1234567" not in caplog.text and "8765432" not in caplog.text and token not in caplog.text
