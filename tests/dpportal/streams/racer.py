"""A process whose threads all try to publish the same periods, each with a content of its own.

Usage: python -m tests.dpportal.streams.racer prepare | see <stream> | <stream> <first content> <threads> <periods>
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any
from uuid import UUID

import django

django.setup()

from django.db import connection  # noqa: E402

from dpportal.accounts.models import Role  # noqa: E402
from dpportal.streams import execution, vault  # noqa: E402
from dpportal.streams.execution import PeriodRefusedError, Update  # noqa: E402
from dpportal.streams.models import Period, Stream  # noqa: E402
from tests.dpportal import building  # noqa: E402
from tests.dpportal.streams.building import open_stream  # noqa: E402
from tests.dpportal.streams.true_sums import true_sums  # noqa: E402

HORIZON = 100


def prepare() -> str:
    curator = building.person("curator", Role.CURATOR)
    dataset = building.granted(building.stored_dataset(curator), curator)
    return str(open_stream(dataset, horizon=HORIZON).pk)


def race(stream: str, first: int, threads: int, periods: int) -> dict[str, Any]:
    """Who published what, or met it published, [period, content, released], and each refusal."""
    outcomes: dict[str, Any] = {"published": [], "repeated": [], "refused": []}
    gate = threading.Event()
    contents = range(first, first + threads)
    racers = [threading.Thread(target=_try, args=(stream, c, periods, gate, outcomes)) for c in contents]
    for racer in racers:
        racer.start()
    print("ready", flush=True)
    sys.stdin.readline()
    gate.set()
    for racer in racers:
        racer.join()
    return outcomes


def _try(stream: str, content: int, periods: int, gate: threading.Event, outcomes: dict[str, Any]) -> None:
    connection.ensure_connection()
    gate.wait()
    for index in range(1, periods + 1):
        try:
            [done] = execution.publish(UUID(stream), [Update(index, (content,), Period.Source.TYPED)])
            outcomes["published" if done.new else "repeated"].append(
                [index, content, done.period.released[0]]
            )
        except PeriodRefusedError as refused:
            outcomes["refused"].append(refused.why.value)
        except Exception as error:
            outcomes["refused"].append(type(error).__name__)
    connection.close()


def see(stream_id: str) -> dict[str, Any]:
    """What is stored in the end."""
    stream = Stream.objects.get(pk=stream_id)
    state, version = vault.read(stream)
    periods = stream.periods.all()
    sums = [one[0] for one in true_sums(periods) or []]
    released = [period.released[0] for period in periods]
    return {"released": released, "sums": sums, "state": state.period, "version": version}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["prepare"]:
            print(prepare())
        case ["see", stream]:
            print(json.dumps(see(stream)))
        case [stream, *numbers]:
            print(json.dumps(race(stream, *map(int, numbers))), flush=True)
