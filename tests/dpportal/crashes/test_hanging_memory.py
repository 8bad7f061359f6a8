"""The memory's disk does not answer: pages do, the sweep goes on, and jobs wait until it is back."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from tests.dpportal import building
from tests.dpportal.crashes import hanging_disk
from tests.dpportal.crashes.hanging_disk import hanging, hangs
from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.crashes.test_releases import AMOUNT, finish
from tests.dpportal.portal_command.starting import answers, free_port
from tests.dpportal.world import kill

pytestmark = [
    pytest.mark.worker,
    pytest.mark.sampled,
    pytest.mark.skipif(bool(hanging_disk.lacking()), reason=hanging_disk.lacking() or "-"),
]
# A page waits five seconds for the memory, and asks twice at most.
SOON = 20.0
GUNICORN = ("-m", "gunicorn", "-c", "python:dpportal.serving.gunicorn_conf", "-w", "1", "--bind")
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@pytest.fixture
def memory(stage: Stage) -> Path:
    return stage.world.folder / "data" / "memory"


@pytest.fixture
def port(stage: Stage) -> Iterator[int]:
    """Of a web server of this portal."""
    stage.world.run("manage.py", "collectstatic", "--noinput", "--verbosity", "0")
    port = free_port()
    server = stage.world.start(*GUNICORN, f"127.0.0.1:{port}")
    wait_until(lambda: answers(port), "the web server answers")
    yield port
    kill(server)


def sign_in(port: int) -> int:
    """By a browser's form; the status of the page that follows."""
    address = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=address, headers={"Referer": address}, timeout=60) as browser:
        token = TOKEN.search(browser.get("/account/sign-in/").text)
        assert token is not None
        form = {"csrfmiddlewaretoken": token[1], "username": "curator", "password": building.PASSWORD}
        return browser.post("/account/sign-in/", data=form, follow_redirects=True).status_code


def last_round(stage: Stage) -> object:
    """When the sweep last ended a round."""
    return stage.world.rows("SELECT max(seen_at) FROM jobs_heartbeat WHERE kind = 'sweep'")[0][0]


def look(port: int) -> None:
    """Each page answers soon."""
    for _ in range(2):
        for path in ("/health/", "/", "/account/sign-in/"):
            began = time.monotonic()
            assert httpx.get(f"http://127.0.0.1:{port}{path}", timeout=60).status_code == 200, path
            assert time.monotonic() - began < SOON, path
    began = time.monotonic()
    assert sign_in(port) == 200
    assert time.monotonic() - began < SOON


def test_pages_and_the_sweep_go_on_and_the_job_is_done_afterwards(stage: Stage, memory: Path, port: int):
    spent, _reserved = stage.budget()
    release = UUID(stage.ask("confirm"))
    with hanging(memory):
        assert hangs(memory)
        worker = stage.worker()
        look(port)
        before = last_round(stage)
        wait_until(lambda: last_round(stage) != before, "the sweep does a round", seconds=60)
        assert stage.budget() == (spent, AMOUNT)
    finish(stage, release)
    kill(worker)
    assert stage.see(release).job["attempts"] == 1
    assert stage.budget() == (spent + AMOUNT, 0)
    assert "All agrees" in stage.world.run("manage.py", "verify")


def test_what_starts_meanwhile_does_its_work(stage: Stage, memory: Path):
    """A web server and a sweep, which looks through all files first."""
    sweep = free = None
    with hanging(memory):
        port = free_port()
        free = stage.world.start(*GUNICORN, f"127.0.0.1:{port}")
        wait_until(lambda: answers(port), "the web server answers", seconds=90)
        sweep = stage.world.start("manage.py", "sweep")
        begun = "SELECT count(*) FROM jobs_heartbeat WHERE name LIKE %s"
        wait_until(
            lambda: stage.world.rows(begun, f"sweep@%:{sweep.pid}") == [(1,)], "it does a round", seconds=90
        )
        seen = "SELECT seen_at FROM jobs_heartbeat WHERE name LIKE %s"
        first = stage.world.rows(seen, f"sweep@%:{sweep.pid}")
        wait_until(
            lambda: stage.world.rows(seen, f"sweep@%:{sweep.pid}") != first, "and another one", seconds=90
        )
    for process in (free, sweep):
        kill(process)
