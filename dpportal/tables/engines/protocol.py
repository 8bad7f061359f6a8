"""What every engine offers the portal: a module that speaks to it, and a session that only reads."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from dpportal.tables.engines.definitions import SourceDefinition
from dpportal.tables.engines.server import Server, ServerTable


@dataclass(frozen=True)
class ColumnInfo:
    """A column of the other database. type: PostgreSQL's name where its values have a rule, else the engine's own.

    Rules use PostgreSQL's names; "enum" is any enumeration.
    """

    name: str
    type: str


class Session(Protocol):
    """A session with a connection's database, under its limits. Every method raises SourceFault."""

    @property
    def version(self) -> str:
        """The engine with its version."""

    @property
    def read_at(self) -> dt.datetime:
        """When the snapshot was taken, else when the session began; by the engine's clock."""

    @property
    def server(self) -> str:
        """The identity of the server; the same under all its addresses, where that can be known."""

    @property
    def one_snapshot(self) -> bool:
        """Whether all queries of the session see the same rows."""

    @property
    def lot(self) -> str:
        """A random text that an engine drew for queries that cannot draw themselves, else empty."""

    def describe(self, source: str) -> list[ColumnInfo]:
        """The columns of what stands behind FROM."""

    def relations(self, source: str) -> list[str]:
        """The tables that a reading of the source comes to, however many views lie between."""

    def definition(self, table: ServerTable) -> SourceDefinition:
        """What a table or query is made of now, through all views and functions."""

    def counts(self, statement: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Places and numbers of rows of a query that gives two columns of bigint, batch by batch as they arrive."""


def in_columns(batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
    """Places and numbers of rows of an Arrow batch of two columns, whichever integers the engine sent."""
    place, rows = (batch.column(number).to_numpy().astype(np.int64) for number in (0, 1))
    return place, rows


class Engine(Protocol):
    """A module that speaks to an engine."""

    def reading(self, connection: Server) -> AbstractContextManager[Session]:
        """A session, which ends with the block. Raises SourceFault."""

    def source(self, table: ServerTable) -> str:
        """What stands behind FROM, its names quoted; a query as the administrator wrote it."""
