"""Threads follow the machine, or the site's setting."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpportal.platform import cores
from dpportal.tables import Limits
from dpportal.tables.engines.duckdb.session import stored_table


def of_engine(path: Path) -> int:
    with stored_table(path) as connection:
        [(threads,)] = connection.execute("SELECT current_setting('threads')").fetchall()
    return threads


@pytest.mark.parametrize(("machine", "said", "threads"), [(1, "", 1), (64, "", 4), (2, "3", 3), (64, "1", 1)])
def test_a_count_uses_those_of_the_machine_or_as_many_as_the_setting_says(
    tmp_path, monkeypatch, machine, said, threads
):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(machine)))
    monkeypatch.setenv("DPPORTAL_THREADS", said)
    assert of_engine(tmp_path) == threads


def test_reading_with_more_threads_has_more_memory():
    two, six = Limits().of_threads(2), Limits().of_threads(6)
    assert (two, Limits().of_threads(1).memory_bytes) == (Limits(), Limits().memory_bytes)
    assert (six.threads, six.memory_bytes) == (6, 3 * two.memory_bytes)


def started(said: str) -> subprocess.CompletedProcess[str]:
    looked = "from django.conf import settings; print(settings.THREADS)"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings", "DPPORTAL_THREADS": said}
    return subprocess.run(
        [sys.executable, "-c", looked], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_setting_is_checked_at_start():
    assert started("7").stdout.strip() == "7"
    assert started("").stdout.strip() == str(cores.of_machine())
    assert "DPPORTAL_THREADS must be a whole number from 1 to 32" in started("many").stderr
