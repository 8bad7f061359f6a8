"""How much memory this machine has, or the control group that confines this process."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


def memory() -> int:
    """The bytes of memory in all."""
    limits = (limit for limit, _used in _limits(_GROUPS, _own_group()))
    return min([os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *limits])


def free_memory() -> int:
    """Bytes that nobody uses, or that hold only copies of files."""
    left = (limit - used for limit, used in _limits(_GROUPS, _own_group()))
    return max(0, min([_available(), *left]))


def own_memory() -> int:
    """Bytes that this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _available() -> int:
    match = re.search(r"MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text())
    return int(match[1]) * 1024 if match else os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _own_group() -> str:
    """The path of this process's control group, as a container or service manager set it; empty if it has none."""
    with suppress(OSError):
        match = re.search(r"^0::/(.*)$", Path("/proc/self/cgroup").read_text(), re.MULTILINE)
        return match[1] if match else ""
    return ""


def _limits(groups: Path, own: str) -> Iterator[tuple[int, int]]:
    """Limit and use in bytes of every control group, from its own up, that has a limit."""
    folder = groups / own
    for group in (folder, *folder.parents):
        with suppress(OSError, ValueError):
            limit = int((group / "memory.max").read_text())
            files = re.search(r"^inactive_file (\d+)$", (group / "memory.stat").read_text(), re.MULTILINE)
            yield limit, int((group / "memory.current").read_text()) - (int(files[1]) if files else 0)
        if group == groups:
            return
