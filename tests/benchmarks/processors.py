"""What a server's processes take of the processors of this machine, with those that it starts, by /proc."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

PROCESSES = Path("/proc")
# Until a process that ended is counted among its parent's.
SETTLED_SECONDS = 0.2


def seconds(server: int | None) -> float:
    """Processor seconds so far of a process and of all that descend from it; 0 where there is none here."""
    if not server:
        return 0.0
    time.sleep(SETTLED_SECONDS)
    known = {int(each.name): found for each in PROCESSES.glob("[0-9]*") if (found := _process(each))}
    waiting, ticks = [server], 0
    while waiting:
        one = waiting.pop()
        ticks += known[one][1] if one in known else 0
        waiting += [child for child, (parent, _ticks) in known.items() if parent == one]
    return ticks / os.sysconf("SC_CLK_TCK")


def parent_of(process: int) -> int | None:
    """The process that started another; None where that is not on this machine."""
    found = _process(PROCESSES / str(process))
    return found[0] if found else None


def _process(folder: Path) -> tuple[int, int] | None:
    """The parent of a process, and its ticks of the processors with those of its children that ended."""
    with suppress(OSError):
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        return int(fields[1]), sum(map(int, fields[11:15]))
    return None
