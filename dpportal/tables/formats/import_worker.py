"""The child process that reads an upload: `python -m dpportal.tables.formats.import_worker`.

A JSON specification comes on standard input; JSON lines of progress and at last one result or fault go to
standard output. It holds itself to its limits before it opens the file, ends with its parent however that ends, and
leaves no core file, since that would hold records.
"""

from __future__ import annotations

import errno
import json
import os
import resource
import signal
import sys
import traceback
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, TextIO

from billiard.util import set_pdeathsig

from dpportal.platform.sealed_files import ChangedFileError, file_from_json, size_of
from dpportal.tables.facts import FileLook, TableFacts
from dpportal.tables.faults import UploadFault, no_rows, out_of_disk, out_of_memory
from dpportal.tables.formats.progress import LineReport
from dpportal.tables.formats.reader import Reading
from dpportal.tables.meaning.parse_options import Limits, ReadOptions

# Of this package's own lines, the last of which an unforeseen fault names.
ROOM = f"{Path(__file__).parents[1]}{os.sep}"
OUT_OF_DISK, NO_SPACE = {errno.ENOSPC, errno.EDQUOT}, ("No space left", "quota exceeded")
OUT_OF_MEMORY = {"MemoryError", "ArrowMemoryError", "OutOfMemoryException"}


def main() -> None:
    """Read the file that standard input names, within its limits, and answer on standard output."""
    answers = _own_output()
    set_pdeathsig(signal.SIGKILL)
    specification = json.load(sys.stdin)
    if os.getppid() != specification["parent"]:  # it ended before this process asked to end with it
        return
    limits = Limits.from_json(specification["limits"])
    source = file_from_json(specification["source"])
    _hold(limits)
    sys.meta_path.insert(0, _WithoutPandas())
    reading = Reading(
        source,
        file_from_json(specification["target"]),
        specification["file_name"],
        ReadOptions.from_json(specification["options"]),
        limits,
        LineReport(answers, size_of(source)),
        bytes.fromhex(specification["sketch_key"]) or None,
        specification["further_columns"],
        specification["further_format"],
    )
    try:
        answer: dict[str, Any] = (
            {"look": look_here(reading).to_json()}
            if specification["look"]
            else {"facts": convert_here(reading).to_json()}
        )
    except Exception as error:
        answer = {"fault": _as_fault(error, limits).to_json()}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


class _WithoutPandas(MetaPathFinder):
    """Arrow loads pandas to ask whether an array is one of its series: 35 MB and a sixth of a second."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ImportError(name=name)


def _own_output() -> TextIO:
    """Standard output for the answers alone; what a library prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return answers


def convert_here(reading: Reading) -> TableFacts:
    """Convert in this process. Raises UploadFault, or whatever a reader raises when memory or disk ends."""
    # Each reader is loaded only when a file needs it: together they take a second and 100 MB.
    import pyarrow

    from dpportal.tables.formats.detection import detect_format, further_format

    # The other allocators keep what was freed.
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    source, file_name = reading.source, reading.file_name
    if reading.is_further:
        known = further_format(source, file_name, reading.further_format, has_names=reading.options.header)
    else:
        known = detect_format(source, file_name)
    facts = known.read(reading)
    if facts.rows == 0 and not reading.is_further:
        raise no_rows()
    return facts


def look_here(reading: Reading) -> FileLook:
    """How a file begins and ends. Raises as `convert_here`."""
    from dpportal.tables.formats.detection import detect_format

    return detect_format(reading.source, reading.file_name).look(reading)


def _hold(limits: Limits) -> None:
    """Limit this process's processor time, and let the kernel end it before others where the machine's memory ends.

    The parent watches its memory and disk.
    """
    Path("/proc/self/oom_score_adj").write_text("1000")
    for kind, most in (
        (resource.RLIMIT_CPU, int(limits.seconds * limits.threads) + 1),
        (resource.RLIMIT_CORE, 0),
    ):
        _soft, hard = resource.getrlimit(kind)
        capped = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (capped, capped))


def _as_fault(error: Exception, limits: Limits) -> UploadFault:
    """The fault to report; of an unexpected error only class and place, since its text could quote a cell."""
    if isinstance(error, UploadFault):
        return error
    if isinstance(error, ChangedFileError) or ChangedFileError.__name__ in str(error):
        return UploadFault("changed", str(ChangedFileError()))
    name = type(error).__name__
    # What the engine says while Arrow reads its batches is an OSError.
    if name in OUT_OF_MEMORY or "Out of Memory" in str(error):
        return out_of_memory(limits.memory_bytes)
    if getattr(error, "errno", None) in OUT_OF_DISK or any(words in str(error) for words in NO_SPACE):
        return out_of_disk()
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(ROOM)]
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
    return UploadFault(
        "unforeseen",
        "This file could not be read as a table. Save the table as CSV in UTF-8 and upload that file; "
        "if that fails too, tell an administrator when you tried.",
        origin=f"{name} at {place}",
    )


if __name__ == "__main__":
    main()
