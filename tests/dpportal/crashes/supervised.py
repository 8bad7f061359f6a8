"""A saboteur under the supervisor, as an embedded portal keeps its workers. Ends with SIGTERM."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress

from dpportal.jobs.supervisor import Process, supervise
from tests.dpportal.crashes.saboteur import app


def work() -> None:
    app.worker_main(["--quiet", "worker", "--pool", "solo", *sys.argv[1:]])


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        supervise([Process("worker", work, watched=True)], ready=lambda: None)
