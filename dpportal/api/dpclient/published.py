"""What is published, read by its address alone: the files of its bundle, and its numbers with their margins."""

from __future__ import annotations

import hashlib
import io
import json
import re
import time
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any, Self
from urllib.parse import urlsplit

import httpx
import pandas as pd

from .connection import Connection
from .faults import PortalError

_ID = re.compile(r"/(?:releases|streams)/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:/|$)")
# The apostrophe before a text that a spreadsheet would take for a formula; a negative number has none.
_GUARDED = re.compile(r"^'(?='*[=+\-@\t\r\n])(?!-[0-9]+(\.[0-9]+)?$)")
# Those of a running count's newest period are there so long after it, unless the portal is busy.
FILES_SECONDS = 60.0
# Says of every CSV file which of its columns are texts.
PACKAGE, TABLES = "datapackage.json", ".csv"
# Ends of an interval, of the estimate of a line, or of a column with a name of its own, such as mean_lower.
LOWER, UPPER, ESTIMATE = "_lower", "_upper", "interval"
# Columns of estimates with one interval a line, whose ends are called interval_lower and interval_upper.
ESTIMATED = ("noisy_count", "released_count", "answer", "estimate")


class Files:
    """The files of a bundle. listed: as the API lists them."""

    def __init__(self, connection: Connection, listed: Sequence[dict[str, Any]]) -> None:
        self._connection = connection
        self.listed = {file["name"]: file for file in listed}

    def read(self, name: str) -> bytes:
        """What a file holds, compared with its published digest. Raises PortalError."""
        if name not in self.listed:
            raise PortalError(404, f"There is no file {name!r}. There are: {', '.join(self.listed)}.")
        content = self._connection.send("GET", self.listed[name]["address"]).content
        if hashlib.sha256(content).hexdigest() != self.listed[name]["sha256"]:
            raise PortalError(0, f"{name!r} did not arrive as it was published. Read it again.")
        return content

    def table(self, name: str | None = None) -> pd.DataFrame:
        """A table of the bundle. Where it has 95 % intervals, a further column says how far they reach.

        That is from the estimate to the farther end. It is called “margin”; beside mean_lower and mean_upper it is
        “mean_margin”, and so for others.

        Codes such as 00501 are texts where their column was declared as texts.

        name: of its file; without one the first table that has intervals, or the first at all. Raises PortalError.
        """
        tables = [each for each in self.listed if each.endswith(TABLES)]
        if name is not None:
            if name in self.listed and name not in tables:
                named = ", ".join(tables)
                text = (
                    f"{name!r} is not read as a table; read({name!r}) gives its bytes. Tables are: {named}."
                )
                raise PortalError(0, text)
            return _with_margin(self._frame(name))
        first: pd.DataFrame | None = None
        for each in tables:
            frame = self._frame(each)
            if _with_intervals(frame):
                return _with_margin(frame)
            first = frame if first is None else first
        if first is None:
            raise PortalError(404, "There is no table in this bundle, or it is still being written.")
        return first

    def _frame(self, name: str) -> pd.DataFrame:
        return _frame(self.read(name), self._texts.get(name, ()))

    @cached_property
    def _texts(self) -> dict[str, list[str]]:
        """The columns of texts of each table, by its name; of none where the bundle does not say so."""
        resources = json.loads(self.read(PACKAGE))["resources"] if PACKAGE in self.listed else []
        return {
            each["path"]: [field["name"] for field in each["schema"]["fields"] if field["type"] == "string"]
            for each in resources
        }


class Published(Files):
    """A published release or running count. facts: title, loss, statement, citation and more, by name."""

    def __init__(self, connection: Connection, facts: dict[str, Any]) -> None:
        super().__init__(connection, facts.pop("files"))
        self.facts = facts
        self.title: str = facts["title"]

    @classmethod
    def of(cls, connection: Connection, publication_id: str, seconds: float = FILES_SECONDS) -> Self:
        """By its id, with the files that there are within so many seconds. Raises PortalError."""
        end = time.monotonic() + seconds
        while (facts := connection.call("GET", f"/catalogue/{publication_id}"))["files_to_come"]:
            if time.monotonic() > end:
                break
            time.sleep(1)
        return cls(connection, facts)


def read(
    address: str, *, seconds: float = FILES_SECONDS, transport: httpx.BaseTransport | None = None
) -> Published:
    """What is published at the address of a page, such as https://portal.example/releases/…/. Needs no token.

    seconds: how long it waits for the files of a running count's newest period; then there are the former ones.
    Raises ValueError for another kind of address, PortalError if there is nothing.
    """
    match, parts = _ID.search(address), urlsplit(address)
    if match is None or not parts.netloc:
        raise ValueError(
            "This is not the address of a release or running count: …/releases/ID/ or …/streams/ID/."
        )
    before = parts.path[: parts.path.index(match[0])]
    connection = Connection(f"{parts.scheme}://{parts.netloc}{before}", transport=transport)
    return Published.of(connection, match[1], seconds)


def _frame(content: bytes, texts: Collection[str] = ()) -> pd.DataFrame:
    """An empty field alone is missing: “n/a” is a text. Texts are as they were published, without a CSV's apostrophe.

    texts: columns whose codes, such as 007, are no numbers; of others this shows where not all are numbers.
    """
    kinds = dict.fromkeys(texts, str)
    frame = pd.read_csv(io.BytesIO(content), keep_default_na=False, na_values=[""], dtype=kinds)
    for name in frame.select_dtypes(["object", "string"]).columns:
        frame[name] = frame[name].str.replace(_GUARDED, "", n=1, regex=True)
    return frame


def _with_intervals(frame: pd.DataFrame) -> list[str]:
    """Beginnings of the names of columns that are both ends of an interval of numbers."""
    numbers = set(frame.select_dtypes("number").columns)
    names = [name.removesuffix(LOWER) for name in frame.columns if name.endswith(LOWER)]
    return [name for name in names if {f"{name}{LOWER}", f"{name}{UPPER}"} <= numbers]


def _with_margin(frame: pd.DataFrame) -> pd.DataFrame:
    """How far each interval reaches from its estimate: to the farther end, since not all lie in the middle."""
    margins = {}
    for name in _with_intervals(frame):
        low, high = frame[f"{name}{LOWER}"], frame[f"{name}{UPPER}"]
        estimated = next((each for each in (name, *ESTIMATED) if each in frame.columns), None)
        reach = (
            (high - low) / 2
            if estimated is None
            else _larger(high - frame[estimated], frame[estimated] - low)
        )
        margins[_free("margin" if name == ESTIMATE else f"{name}_margin", frame)] = reach
    return frame.assign(**margins)


def _larger(one: pd.Series, other: pd.Series) -> pd.Series:
    return one.where(one >= other, other)


def _free(name: str, frame: pd.DataFrame) -> str:
    """A name that none of the published columns has."""
    return name if name not in frame.columns else _free(f"{name}_95", frame)
