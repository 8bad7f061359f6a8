"""The queue's server is killed at random moments under load; afterwards ledger, memory, files and jobs agree.

    python -m tests.benchmarks.broker {redis,forgetful-redis,rabbitmq} [--seconds 120] [--seed 1] [--port 8831]

A server of this benchmark's own, which listens to that port, is killed (SIGKILL) again and again under two workers, the
sweep and people who confirm releases and send periods, and is started again after up to half a minute. One kind of
Redis writes down every message, the other forgets all of them with each death. What must hold in the end is what
`tests.benchmarks.frozen` asks for: every job ends, and none is charged twice.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.frozen import AMOUNT, Storm, weather
from tests.benchmarks.storms import Currents
from tests.conftest import POSTGRES_URL, REDIS_URL
from tests.dpportal.crashes.stage import Stage, wait_until
from tests.dpportal.queue_servers import Server, rabbitmq, redis
from tests.dpportal.world import with_servers

LONGEST_ABSENCE_SECONDS, LONGEST_PEACE_SECONDS = 30.0, 15.0


@contextmanager
def running(kind: str, folder: Path, port: int) -> Iterator[Server]:
    folder.mkdir()
    server = rabbitmq(folder, port) if kind == "rabbitmq" else redis(folder, port, kind == "redis")
    server.start()
    try:
        wait_until(server.listens, "the queue's server listens")
        yield server
    finally:
        server.kill()
        shutil.rmtree(folder)


def address(kind: str, port: int) -> str:
    return f"amqp://guest:guest@127.0.0.1:{port}" if kind == "rabbitmq" else f"redis://127.0.0.1:{port}/0"


@dataclass
class Outage:
    """The server dies under a storm, which goes on, and comes back."""

    server: Server
    storm: Storm
    longest: float = 0.0

    def strike(self) -> None:
        self.storm.strikes += 1
        self.server.kill()
        gone = time.monotonic()
        self.storm.work_on(LONGEST_ABSENCE_SECONDS)
        self.server.start()
        wait_until(self.server.listens, "the queue's server listens again")
        self.longest = max(self.longest, time.monotonic() - gone)
        self.storm.work_on(LONGEST_PEACE_SECONDS)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=["redis", "forgetful-redis", "rabbitmq"])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--port", type=int, default=8831)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(running(options.kind, folder / "queue", options.port))
        world = stack.enter_context(with_servers(folder / "world", POSTGRES_URL, REDIS_URL))
        world.broker = {"CELERY_BROKER_URL": address(options.kind, options.port)}
        stage = Stage(world)
        storm = Storm(stage, random.Random(options.seed), Currents(stage, AMOUNT))
        outage = Outage(server, storm)
        weather(storm, options.seconds, outage.strike)
        print(f"The queue's server was gone for {outage.longest:.0f} s at the longest.")


if __name__ == "__main__":
    main()
