"""How soon a portal answers after its command, and what it holds in memory when nobody asks for anything.

Run as `python -m tests.benchmarks.idle`. The first start makes database and static files, the second finds them.
Memory is the proportional set size of all processes: shared pages are divided among those that share them.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.dpportal.portal_command.starting import (
    ROOT,
    answers,
    command,
    environment,
    free_port,
    proportional_mb,
)

SETTLED_SECONDS = 15.0


def measured(data: Path) -> tuple[float, float]:
    """Seconds until the first answer, and MB when idle."""
    port = free_port()
    begun = time.monotonic()
    portal = subprocess.Popen(
        command(data, port), cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        while not answers(port):
            time.sleep(0.02)
        seconds = time.monotonic() - begun
        time.sleep(SETTLED_SECONDS)
        return seconds, proportional_mb(portal.pid)
    finally:
        portal.terminate()
        portal.wait()


def main() -> int:
    print(f"{'start':<10}{'first answer':>14}{'idle':>12}")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("new", "again", "again"):
            seconds, memory = measured(Path(folder) / "data")
            print(f"{name:<10}{seconds:>12.1f} s{memory:>9.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
