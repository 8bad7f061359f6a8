"""What operators and their programs are told: numbers for Prometheus, lines of the log, names of requests."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as portal
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from gunicorn.config import Config
from prometheus_client.parser import text_string_to_metric_families

from dpportal.jobs import supervisor
from dpportal.jobs.claims import JobState, claim
from dpportal.jobs.database_busy import DatabaseBusy
from dpportal.jobs.heartbeat import HeartbeatThread
from dpportal.jobs.models import Heartbeat
from dpportal.platform.environment import one_of
from dpportal.platform.log_lines import LineFormatter, ObjectFormatter
from dpportal.releases import execution
from dpportal.releases.models import ReleaseJob
from dpportal.serving import durations, gunicorn_conf, in_flight
from dpportal.serving.gunicorn_log import Log
from dpportal.serving.handler import THREADS, PortalHandler
from dpportal.serving.in_flight import Requests
from dpportal.serving.request_ids import WithRequestId

pytestmark = pytest.mark.django_db
ONE = (ip_network("127.0.0.1"),)


def samples(client: Client) -> dict[tuple[str, str], float]:
    """Each number by its name and the values of its labels."""
    answer = client.get("/metrics")
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.text)
    return {
        (s.name, " ".join(v for _, v in sorted(s.labels.items()))): s.value
        for family in families
        for s in family.samples
    }


def test_strangers_and_curators_find_no_numbers(client, curator, administrator):
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"X-Forwarded-For": "127.0.0.1"}).status_code == 404
    client.force_login(curator)
    assert client.get("/metrics").status_code == 404
    client.force_login(administrator)
    assert client.get("/metrics").status_code == 200


def test_a_declared_network_reads_the_state_of_jobs_and_processes(client, settings, requested):
    settings.METRICS_NETWORKS = ONE
    HeartbeatThread(Heartbeat.Kind.WORKER).beat()
    HeartbeatThread(Heartbeat.Kind.SWEEP).beat()
    found = samples(client)
    assert found[("dpportal_jobs", "ReleaseJob queued")] == 1
    assert found[("dpportal_jobs", "ReleaseJob done")] == 0
    assert (found[("dpportal_workers_alive", "")], found[("dpportal_broker_up", "")]) == (1, 1)
    assert 0 <= found[("dpportal_sweep_age_seconds", "")] < 30
    assert found[("dpportal_free_disk_bytes", "")] > 0
    assert found[("dpportal_trouble", "no-worker")] == 0
    Heartbeat.objects.all().delete()
    assert samples(client)[("dpportal_trouble", "no-worker")] == 1


def test_every_trouble_of_the_page_health_is_a_number(client, settings, memory_of_its_own):
    """Who watches by a program must not miss a machine that takes no jobs, or a memory that is lost."""
    settings.METRICS_NETWORKS = ONE
    shutil.rmtree(memory_of_its_own)
    HeartbeatThread(Heartbeat.Kind.WORKER).beat()
    told = client.get("/health/").json()["troubles"]
    assert {"machine-hindered", "memory"} <= set(told)
    found = {
        name for (sample, name), value in samples(client).items() if sample == "dpportal_trouble" and value
    }
    assert found == set(told)


def test_requests_are_counted_by_status_with_their_durations(client, settings):
    settings.METRICS_NETWORKS = ONE
    before = samples(client)
    client.get("/guide/")
    client.get("/nowhere/")
    found = samples(client)
    for labels in ("GET 200", "GET 404"):
        name = ("dpportal_request_seconds_count", labels)
        assert found[name] > before.get(name, 0)
    assert found[("dpportal_request_seconds_bucket", "+Inf GET 404")] >= 1


async def held(handler: PortalHandler, number: int, meanwhile: Callable[[], Any]) -> Any:
    """What a function returns while a handler has so many requests, none of which is answered before it ends."""
    free = threading.Event()
    handler._respond = lambda _scope, _body: free.wait(60) and HttpResponse()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: Any) -> None:
        """Nobody reads it."""

    requests = [asyncio.create_task(handler({"type": "http"}, receive, send)) for _ in range(number)]
    try:
        while len(handler.in_flight._begun) < number:
            await asyncio.sleep(0)
        return await asyncio.to_thread(meanwhile)
    finally:
        free.set()
        await asyncio.gather(*requests)


def test_requests_in_flight_are_counted_with_those_that_wait_for_a_thread_and_the_oldest_has_an_age(
    client, settings, caplog, monkeypatch
):
    monkeypatch.setattr(in_flight, "OLD_SECONDS", 0.1)

    def while_busy() -> Requests:
        time.sleep(0.2)
        return durations.requests_in_flight()

    found = asyncio.run(held(PortalHandler(), THREADS + 3, while_busy))
    assert found.number == THREADS + 3 and 0.2 <= found.oldest_seconds < 30
    assert "requests in flight=" in caplog.text
    settings.METRICS_NETWORKS = ONE
    numbers = samples(client)
    assert numbers[("dpportal_requests_in_flight", "")] == 0
    assert numbers[("dpportal_oldest_request_seconds", "")] == 0
    assert not any("begun" in name for name, _labels in numbers)


def test_an_administrator_sees_how_many_requests_are_in_flight_and_how_old_the_oldest_is(
    client, administrator, monkeypatch
):
    monkeypatch.setattr(durations, "requests_in_flight", lambda: Requests(12, 75.0))
    client.force_login(administrator)
    page = " ".join(client.get("/health/portal/").text.split())
    assert "Requests in flight</dt><dd>12 <small>on this machine, with yours; the oldest for 75 s" in page


def test_a_job_s_beginning_and_end_are_written_with_id_attempt_and_seconds(
    requested, caplog, django_capture_on_commit_callbacks
):
    assert logging.getLogger("dpportal.jobs").getEffectiveLevel() == logging.INFO
    with django_capture_on_commit_callbacks(execute=True):
        execution.RELEASES.run(requested.pk)
    lines = [r for r in caplog.records if r.name == "dpportal.jobs" and r.job_kind == "ReleaseJob"]
    assert [r.event for r in lines] == ["job-began", "job-ended"]
    assert f"job began: kind=ReleaseJob id={requested.pk} attempt=1" == lines[0].getMessage()
    assert f"id={requested.pk} attempt=1 outcome=done seconds=" in lines[1].getMessage()


def test_a_job_that_is_given_back_says_so(requested, caplog, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        claim(ReleaseJob, requested.pk).release_lease()
        claim(ReleaseJob, requested.pk).finish(JobState.FAILED, "The job took too long.")
    said = [r.getMessage() for r in caplog.records if r.name == "dpportal.jobs"]
    assert [s.partition(" seconds")[0].partition("attempt=")[2] for s in said] == [
        "1", "2", "1 outcome=given back", "2 outcome=failed",
    ]  # fmt: skip


def test_each_answer_names_its_request_and_so_does_each_line(client, settings, caplog):
    caplog.handler.addFilter(WithRequestId())
    answer = client.get("/nowhere/", headers={"X-Request-ID": "theirs"})
    name = answer["X-Request-ID"]
    assert len(name) == 32 and caplog.records[-1].request_id == name
    settings.PROXIES = ONE
    assert (
        client.get("/guide/", headers={"X-Request-ID": "from-the_proxy.7"})["X-Request-ID"]
        == "from-the_proxy.7"
    )
    for forged in ("a b", "a\tb=c", "x" * 65, "é"):
        assert len(client.get("/guide/", headers={"X-Request-ID": forged})["X-Request-ID"]) == 32


def test_a_line_can_be_an_object():
    said = {key: value for key, value in portal.LOGGING["formatters"]["json"].items() if key != "()"}
    record = logging.makeLogRecord(
        {
            "name": "dpportal.jobs",
            "levelname": "INFO",
            "msg": "job began: %s",
            "args": ("x\ny",),
            "attempt": 2,
        }
    )
    WithRequestId().filter(record)
    line = ObjectFormatter(**said).format(record)
    found = json.loads(line)
    assert "\n" not in line
    assert (found["logger"], found["level"], found["attempt"]) == ("dpportal.jobs", "INFO", 2)
    assert found["message"] == "job began: x\ny" and "of_request" not in found


def test_the_line_of_what_somebody_may_not_see_says_who_that_was(dataset, other_curator, caplog):
    caplog.handler.addFilter(WithRequestId())
    desk = Client()
    desk.force_login(other_curator)
    assert desk.get(f"/datasets/{dataset.pk}/").status_code == 404
    assert caplog.records[-1].of_request.endswith(f" person={other_curator.pk}")
    Client().get("/nowhere/")
    assert "person" not in caplog.records[-1].of_request


@pytest.mark.parametrize("kind", [LineFormatter, ObjectFormatter])
def test_times_of_the_log_are_in_utc_whatever_the_zone_of_pages(kind, settings):
    settings.TIME_ZONE = "Asia/Shanghai"
    record = logging.makeLogRecord({"msg": "x", "created": 0.25, "msecs": 250.0})
    formatter = kind(fmt="{asctime}{message}", style="{")
    assert "1970-01-01T00:00:00.250Z" in formatter.format(record)


def test_an_address_begins_no_line_of_the_log(rf, caplog):
    request = rf.get("/datasets/%0a2026-01-01 00:00:00 INFO dpportal.jobs: job ended")
    assert "\n" in request.path
    DatabaseBusy(lambda _request: HttpResponse()).process_exception(request, OperationalError())
    assert "did not do it" in caplog.text and "\n" not in caplog.records[-1].getMessage()


def test_another_format_is_refused(monkeypatch):
    monkeypatch.setenv("DPPORTAL_LOG_FORMAT", "xml")
    with pytest.raises(Exception, match="must be one of: line, json"):
        one_of("DPPORTAL_LOG_FORMAT", ("line", "json"))


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (lambda: sys.exit(3), "exit code 3"),
        (lambda: 1 / 0, "exit code 1"),
        (lambda: signal.raise_signal(signal.SIGKILL), "killed by SIGKILL"),
    ],
)
def test_the_supervisor_says_why_a_process_is_started_again(caplog, monkeypatch, run, reason):
    monkeypatch.setattr(supervisor.connections, "close_all", lambda: None)
    child = supervisor.Process("worker 1", run)
    child.start()
    until = time.monotonic() + 20
    while not child.ended() and time.monotonic() < until:
        time.sleep(0.02)
    child.keep()
    said = rf"The worker 1 ended \({reason} after \d+ s\); it is started again in 1 s\."
    assert re.search(said, caplog.text)


def test_the_supervisor_says_how_one_ended_that_stood_still(caplog, monkeypatch):
    monkeypatch.setattr(supervisor.connections, "close_all", lambda: None)
    child = supervisor.Process("worker 1", lambda: time.sleep(600), watched=True)
    child.start()
    monkeypatch.setattr(child.life, "is_still", lambda _pid: True)
    child.keep()
    assert re.search(r"The worker 1 ended \(killed by SIGKILL after \d+ s\)", caplog.text)


def test_what_gunicorn_says_is_a_line_of_the_log(caplog):
    Log(Config()).error("Worker (pid:%s) was sent SIGKILL!", 7)
    assert "Worker (pid:7) was sent SIGKILL!" in caplog.messages
    assert not logging.getLogger("gunicorn.error").handlers
    assert Path(inspect.getfile(Log)).stem in gunicorn_conf.logger_class


def test_every_trouble_that_health_knows_is_a_number_here(client, settings):
    settings.METRICS_NETWORKS = ONE
    HeartbeatThread(Heartbeat.Kind.WORKER).beat()
    Heartbeat.objects.update(obstacle="its memory cannot be used")
    told = client.get("/health/").json()["troubles"]
    assert "machine-hindered" in told
    found = {name for (kind, name), is_so in samples(client).items() if kind == "dpportal_trouble" and is_so}
    assert found == set(told)
