"""A folder whose disk does not answer: a file system in user space (FUSE) to which no process ever replies.

Whoever looks into it waits in the kernel, and can only be killed, as with a file server that is gone.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

DEVICE = "/dev/fuse"
MNT_DETACH = 2
_libc = ctypes.CDLL(None, use_errno=True)


def lacking() -> str:
    """Why no disk can hang here; empty if one can."""
    if os.geteuid() != 0 or not Path(DEVICE).exists():
        return "a disk that hangs takes root and FUSE"
    with tempfile.TemporaryDirectory() as folder:
        try:
            os.close(_mounted(Path(folder)))
        except OSError:
            return "this machine lets nobody mount a file system"
        _libc.umount2(os.fsencode(folder), MNT_DETACH)
    return ""


@contextmanager
def hanging(folder: Path) -> Iterator[None]:
    """For a block nothing in the folder answers; then it is as it was, and whoever waits is told of a fault."""
    device = _mounted(folder)
    try:
        yield
    finally:
        _libc.umount2(os.fsencode(folder), MNT_DETACH)
        os.close(device)


def hangs(folder: Path) -> bool:
    """Whether a process that looks into it waits for seconds."""
    look = [sys.executable, "-c", f"import os; os.listdir({str(folder)!r})"]
    process = subprocess.Popen(look, stderr=subprocess.DEVNULL)
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        return True
    finally:
        process.kill()
        process.wait()
    return False


def _mounted(folder: Path) -> int:
    """The open device by which a reply would come. Raises OSError."""
    device = os.open(DEVICE, os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if _libc.mount(b"hanging", os.fsencode(folder), b"fuse", 0, options):
        os.close(device)
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(folder))
    return device
