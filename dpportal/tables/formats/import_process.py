"""The parent's side of a conversion: starts the reading process, listens to it, and ends it."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from dpportal.platform.json_types import Json
from dpportal.platform.sealed_files import FilePath, file_from_json, file_to_json, moved_to, path_of, size_of
from dpportal.tables.facts import FileLook, TableFacts
from dpportal.tables.faults import (
    UploadFault,
    damaged,
    out_of_disk,
    out_of_machine_memory,
    out_of_memory,
    out_of_time,
)
from dpportal.tables.formats.confinement import Confinement, Exhausted, child_of
from dpportal.tables.meaning.parse_options import Limits, ReadOptions

COMMAND = [sys.executable, "-m", "dpportal.tables.formats.import_worker"]
# A process of its own and not a fork: a pool's worker may not have children of the multiprocessing kind, and
# must not share its memory limit. It ends with the thread that starts it, which waits for it.
SILENCE_SECONDS = 0.5
# Bytes that are worked through, and bytes in all.
Progress = Callable[[int, int], None]


def _ignore(done: int, total: int) -> None:
    """No one asked for progress."""


@dataclass(frozen=True)
class ImportContext:
    """What the portal adds to a file and its options.

    on_progress: is called with the bytes that are worked through and those of the whole file, at least once a second
    whatever the child does; if it raises, the child is ended and the exception passes. sketch_key: for a sketch of the
    table, 32 bytes. further_columns, further_format: of the table that this is a further file of; then it may have no
    rows, and a row that cannot be read is left out.
    """

    on_progress: Progress = _ignore
    sketch_key: bytes = b""
    further_columns: int = 0
    further_format: str = ""


DEFAULT_CONTEXT = ImportContext()


def convert(
    source: FilePath,
    target: FilePath,
    file_name: str,
    options: ReadOptions | None = None,
    limits: Limits | None = None,
    context: ImportContext = DEFAULT_CONTEXT,
) -> TableFacts:
    """Read an upload of any format into a Parquet file at `target`, in a child process held to `limits`.

    The target lies as `layout` says: every field as its text, in row order. It is sealed where its path is, and what
    the child writes meanwhile is sealed like it.
    file_name: the curator's; see `detection` for what it decides.
    Raises UploadFault if the file cannot become a table; then there is no target.
    """
    limits = limits or Limits()
    with TemporaryDirectory(dir=target.parent, prefix=".convert-") as folder:
        written = moved_to(target, Path(folder).resolve() / "table.parquet")
        file = {"source": file_to_json(source), "target": file_to_json(written), "file_name": file_name}
        specification = {
            **file,
            "options": (options or ReadOptions()).to_json(),
            "sketch_key": context.sketch_key.hex(),
            "further_columns": context.further_columns,
            "further_format": context.further_format,
            "look": False,
        }
        answer = _ask(specification, context.on_progress, limits)
        shutil.move(path_of(written), path_of(target))
    return TableFacts.from_json(answer["facts"])


def look(source: FilePath, file_name: str, options: ReadOptions, limits: Limits, scratch: Path) -> FileLook:
    """How an upload begins and ends, read in a child process held to `limits`.

    scratch: a folder. Raises UploadFault for a file that cannot be read so far.
    """
    with TemporaryDirectory(dir=scratch, prefix=".look-") as folder:
        target = moved_to(source, Path(folder).resolve() / "table")
        file = {"source": file_to_json(source), "target": file_to_json(target), "file_name": file_name}
        further = {"sketch_key": "", "further_columns": 0, "further_format": "", "look": True}
        answer = _ask({**file, "options": options.to_json(), **further}, _ignore, limits)
    return FileLook.from_json(answer["look"])


def _ask(specification: Json, on_progress: Progress, limits: Limits) -> Json:
    """Run the child to its answer. Raises UploadFault if that is one."""
    specification = {**specification, "limits": limits.to_json(), "parent": os.getpid()}
    folder = file_from_json(specification["target"]).parent
    answer: Json = {}
    with child_of(COMMAND) as child, Confinement(child, folder, limits).held() as confinement:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps(specification).encode())
        child.stdin.close()
        done = 0, size_of(file_from_json(specification["source"]))
        for message in _messages(child.stdout):
            if message and "done" not in message:
                answer = message
                continue
            if message:
                done = message["done"], message["total"]
            on_progress(*done)
        code = child.wait()
    if not answer:
        raise _fault_of_death(code, confinement.exhausted, limits)
    if "fault" in answer:
        raise UploadFault.from_json(answer["fault"])
    return answer


def _messages(output: IO[bytes]) -> Iterator[Json | None]:
    """The child's messages until it ends; None after each while without one."""
    held = b""
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            if not selector.select(SILENCE_SECONDS):
                yield None
            elif piece := os.read(output.fileno(), 1 << 16):
                *lines, held = (held + piece).split(b"\n")
                yield from map(json.loads, lines)
            else:
                return


def _fault_of_death(code: int, exhausted: Exhausted | None, limits: Limits) -> UploadFault:
    """The fault of a child that died without an answer."""
    if exhausted is Exhausted.TIME or code == -signal.SIGXCPU:
        return out_of_time(limits.seconds)
    if exhausted is Exhausted.MEMORY:
        return out_of_memory(limits.memory_bytes)
    if exhausted is Exhausted.DISK:
        return out_of_disk()
    # Nobody else kills it but the kernel where the machine's memory ends, or its service's.
    return out_of_machine_memory() if code == -signal.SIGKILL else damaged()
