"""The faults of an upload or a connected table, in words that show no cell of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpportal.platform.json_types import Json


class UploadFault(Exception):  # noqa: N818 a fault of the file, not of the portal
    """A file that cannot become a table.

    code: a stable name of the fault. message: what is wrong, where, and what to do; never a value of a cell.
    row: counted like a spreadsheet does (the header is row 1); column: counted from 1.
    origin: for the log, the exception's class and the line of this package that met it.
    """

    def __init__(
        self, code: str, message: str, *, row: int | None = None, column: int | None = None, origin: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.row = row
        self.column = column
        self.origin = origin

    def __reduce__(self) -> tuple[Callable[[Json], UploadFault], tuple[Json]]:
        return UploadFault.from_json, (self.to_json(),)

    def to_json(self) -> Json:
        return {
            "code": self.code,
            "message": self.message,
            "row": self.row,
            "column": self.column,
            "origin": self.origin,
        }

    @classmethod
    def from_json(cls, value: Json) -> UploadFault:
        return cls(
            value["code"],
            value["message"],
            row=value["row"],
            column=value["column"],
            origin=value["origin"],
        )


class SourceFault(Exception):  # noqa: N818 a fault of the other database, not of the portal
    """A connected table that cannot be counted now. code: a stable name. message: what is wrong and what to do."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def lacks_columns(names: Sequence[str]) -> UploadFault:
    """names: declared, so public."""
    return UploadFault(
        "lacks-columns",
        "This file does not have all columns that are counted. "
        f"It must have, under the same names as the dataset: {', '.join(names)}.",
    )


def no_rows() -> UploadFault:
    """There is nothing below the names."""
    return UploadFault(
        "no-rows",
        "This file has column names and no rows. Upload a file with rows under the names.",
        row=1,
    )


def unfolds_too_far(most_bytes: int) -> UploadFault:
    """A packed file whose text would be too large."""
    return UploadFault(
        "unfolds",
        f"This file unfolds to more than {_size(most_bytes)} of text, the most that is read from a file of its size "
        "in a packed format. Save the table as CSV, which may be as large as an upload may be, or upload fewer columns "
        "or fewer rows.",
    )


def out_of_memory(memory_bytes: int) -> UploadFault:
    """This file takes too much memory."""
    return UploadFault(
        "memory",
        f"Reading this file took the {_size(memory_bytes)} of memory that reading one file may use, and was stopped: "
        "single rows, cells, pages or batches of it are very large. Save the table as CSV, upload fewer columns or "
        "shorter texts, or have the program that wrote it write smaller pages or batches.",
    )


def out_of_machine_memory() -> UploadFault:
    """The machine has no memory left, whatever the file."""
    return UploadFault(
        "machine-memory",
        "The machine's memory was used up while this file was read, so reading was stopped; the file itself may be "
        "right. Upload it again later, and tell an administrator if it happens again.",
    )


def out_of_disk() -> UploadFault:
    """The machine has no disk left, whatever the file."""
    return UploadFault(
        "disk",
        "The portal's disk was nearly full while this file was read, so reading was stopped; the file itself may be "
        "right. Tell an administrator, and upload it again once there is room.",
    )


def out_of_time(seconds: float) -> UploadFault:
    """This file takes too long."""
    return UploadFault(
        "time",
        f"Reading this file took longer than {seconds:,.0f} seconds, the most that this portal gives to one file, and "
        "was stopped. Upload fewer columns or fewer rows, or save the table as CSV or Parquet; an administrator can "
        "allow more time.",
    )


def not_utf8() -> UploadFault:
    """A dictionary of texts that Arrow gives to nobody."""
    return UploadFault(
        "encoding",
        "A column of categories in this Parquet file holds text that is not UTF-8. Store that column as text in UTF-8, "
        "or leave it out, and upload the new file.",
    )


def damaged(kind: str = "") -> UploadFault:
    """A file without its end. kind: its format."""
    return UploadFault(
        "damaged",
        f"This {f'{kind} ' if kind else ''}file is damaged or was cut short, so its end cannot be read. "
        "Save or export it again and upload the new file.",
    )


def _size(count: int) -> str:
    return f"{count / 2**30:.3g} GB" if count >= 2**30 else f"{count / 2**20:,.0f} MB"
