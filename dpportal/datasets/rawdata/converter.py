"""The child process that reads an upload: `python -m dpportal.datasets.rawdata.converter`.

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
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from billiard.util import set_pdeathsig

from dpportal.datasets.rawdata.faults import UploadFault, out_of_disk, out_of_memory
from dpportal.datasets.rawdata.options import Limits, ReadOptions
from dpportal.datasets.rawdata.progress import LineReport, Report, part
from dpportal.datasets.rawdata.table import TableFacts

# The share of the work that is done once a sheet is written as text, or a text's lines are read.
UNPACKED, LINES = 0.8, 0.3
OUT_OF_DISK, NO_SPACE = {errno.ENOSPC, errno.EDQUOT}, ("No space left", "quota exceeded")
OUT_OF_MEMORY = {"MemoryError", "ArrowMemoryError", "OutOfMemoryException"}


def main() -> None:
    answers = _own_output()
    set_pdeathsig(signal.SIGKILL)
    specification = json.load(sys.stdin)
    if os.getppid() != specification["parent"]:  # it ended before this process asked to end with it
        return
    limits = Limits.from_json(specification["limits"])
    source, target = Path(specification["source"]), Path(specification["target"])
    options = ReadOptions.from_json(specification["options"])
    size = source.stat().st_size
    _hold(limits)
    report = LineReport(answers, size)
    try:
        key = bytes.fromhex(specification["sketch_key"]) or None
        facts = convert_here(
            source,
            target,
            specification["file_name"],
            options,
            limits,
            report,
            key,
            specification["further_columns"],
        )
        answer: dict[str, Any] = {"facts": facts.to_json()}
    except Exception as error:
        answer = {"fault": _as_fault(error, limits).to_json()}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _own_output() -> TextIO:
    """Standard output for the answers alone; what a library prints goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return answers


def convert_here(
    source: Path,
    target: Path,
    file_name: str,
    options: ReadOptions,
    limits: Limits,
    report: Report,
    key: bytes | None = None,
    further_columns: int = 0,
) -> TableFacts:
    """Convert in this process, with scratch files beside the target.

    Raises UploadFault, or whatever a reader raises when memory or disk ends.
    """
    # Each reader is loaded only when a file needs it: together they take a second and 100 MB.
    import pyarrow

    from dpportal.datasets.rawdata.detection import detect_format

    # The other allocators keep what was freed.
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())

    found = detect_format(source, file_name)
    is_further = bool(further_columns)
    if found == "parquet":
        from dpportal.datasets.rawdata.parquet_table import convert_parquet

        read = convert_parquet(source, target, options, limits, report, key, is_further=is_further)
    elif found == "xlsx":
        read = _convert_xlsx(source, target, options, limits, report, key, further_columns)
    elif is_further:
        read = _convert_lines(source, target, options, limits, report, key, further_columns)
    else:
        from dpportal.datasets.rawdata.csv_table import convert_csv

        read = convert_csv(source, target, file_name, options, limits, report, key)
    if read.rows == 0 and not is_further:
        raise _no_rows()
    return read


def _convert_lines(
    source: Path,
    target: Path,
    options: ReadOptions,
    limits: Limits,
    report: Report,
    key: bytes | None,
    columns: int,
) -> TableFacts:
    """A further file of text, each of whose lines is a row by itself."""
    from dpportal.datasets.rawdata.csv_table import convert_csv
    from dpportal.datasets.rawdata.encoding import plain_text, settled_encoding
    from dpportal.datasets.rawdata.line_rows import copy_rows

    encoding = settled_encoding(source, options.encoding)
    lines, rows = target.with_name("lines.csv"), target.with_name("rows.csv")
    plain = plain_text(source, lines, encoding, part(report, 0, LINES), takes_nul=True)
    copied = copy_rows(plain.path, rows, options, columns)
    lines.unlink(missing_ok=True)
    if not rows.stat().st_size:
        raise _no_rows()
    written = replace(options, encoding="utf-8")
    read = convert_csv(rows, target, rows.name, written, limits, part(report, LINES, 1), key, from_sheet=True)
    rows.unlink()
    oddities = replace(copied.oddities(), replaced_bytes=plain.replaced)
    return replace(read, options=replace(read.options, encoding=encoding), oddities=oddities)


def _convert_xlsx(
    source: Path,
    target: Path,
    options: ReadOptions,
    limits: Limits,
    report: Report,
    key: bytes | None,
    further_columns: int,
) -> TableFacts:
    from dpportal.datasets.rawdata.csv_table import convert_csv
    from dpportal.datasets.rawdata.xlsx_table import unpack_xlsx

    sheet = target.with_name("sheet.csv")
    unpacked = unpack_xlsx(
        source,
        sheet,
        options.sheet,
        limits,
        part(report, 0, UNPACKED),
        further_columns=further_columns,
        header=options.header,
    )
    written = replace(options, delimiter=",", encoding="utf-8", quote='"')
    read = convert_csv(
        sheet, target, "sheet.csv", written, limits, part(report, UNPACKED, 1), key, from_sheet=True
    )
    oddities = replace(
        unpacked.oddities(),
        broken_fields=read.oddities.broken_fields,
        longest_broken=read.oddities.longest_broken,
    )
    resolved = replace(
        read.options,
        sheet=unpacked.sheet,
        delimiter=options.delimiter,
        encoding=options.encoding,
        quote=options.quote,
    )
    return replace(read, format="xlsx", options=resolved, oddities=oddities, sheets=unpacked.sheets)


def _no_rows() -> UploadFault:
    return UploadFault(
        "no-rows",
        "This file has column names and no rows. Upload a file with rows under the names.",
        row=1,
    )


def _hold(limits: Limits) -> None:
    """Limit this process's processor time, and let the kernel end it before others where the machine's memory ends.

    What it may have of memory and disk, its parent watches.
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
    """The fault to report; of an unforeseen error only class and place, since its text could quote a cell."""
    if isinstance(error, UploadFault):
        return error
    name = type(error).__name__
    # What the engine says while Arrow reads its batches is an OSError.
    if name in OUT_OF_MEMORY or "Out of Memory" in str(error):
        return out_of_memory(limits.memory_bytes)
    if getattr(error, "errno", None) in OUT_OF_DISK or any(words in str(error) for words in NO_SPACE):
        return out_of_disk()
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if "rawdata" in frame.filename]
    place = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else "?"
    return UploadFault(
        "unforeseen",
        "This file could not be read as a table. Save the table as CSV in UTF-8 and upload that file; "
        "if that fails too, tell an administrator when you tried.",
        origin=f"{name} at {place}",
    )


if __name__ == "__main__":
    main()
