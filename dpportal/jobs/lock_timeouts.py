"""How long a process waits for locks in PostgreSQL, and how long PostgreSQL waits for a silent process.

A process that is frozen, or cut off, inside a transaction would hold its rows until somebody ends it. So the server
ends a transaction in which nothing happens, and a statement that waits for a row gives up: a person gets a message,
a job tries again. SQLite has one lock for all: a process that holds it and stands still is ended by the supervisor,
and none waits long for the memory's disk while it holds it.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from dpportal.platform import bulkhead

# PostgreSQL's code where a lock is not to be had in time.
LOCK_NOT_AVAILABLE = "55P03"
# Its code where it ended the session of a process that was silent in a transaction; by its class an internal error.
SESSION_ENDED = "25P03"


@dataclass(frozen=True)
class Patience:
    """Seconds; 0 is without end.

    lock: that a statement waits for a row. silence: that a transaction is open while its process asks nothing of the
    server. statement: that a statement takes.
    """

    lock: float
    silence: float
    statement: float = 0.0

    @property
    def parameters(self) -> dict[str, str]:
        """PostgreSQL's, in milliseconds."""
        seconds = {
            "lock_timeout": self.lock,
            "idle_in_transaction_session_timeout": self.silence,
            "statement_timeout": self.statement,
        }
        return {name: str(round(1000 * value)) for name, value in seconds.items()}


# People wait for pages, so a page gives up early and asks to try again.
WEB = Patience(lock=4.0, silence=10.0, statement=30.0)


# Of every process that keeps to no other: a person waits at a terminal, whose command may have been stopped there and
# forgotten.
COMMAND = Patience(lock=60.0, silence=60.0)
# A migration may compute for minutes between two statements, and nothing else runs beside it.
WITHOUT_END = Patience(lock=0.0, silence=0.0)


def of_jobs() -> Patience:
    """Workers and the sweep: a transaction of a silent process ends before its lease does."""
    return Patience(lock=settings.JOB_LEASE_SECONDS / 3, silence=settings.JOB_LEASE_SECONDS / 2)


def wait_briefly_for_memory() -> None:
    """Where one lock is for all, a disk of the memory that hangs must not keep it: for workers."""
    if connection.vendor == "sqlite":
        bulkhead.MEMORY.close()


def keep_to(patience: Patience) -> None:
    """Apply these limits, and no earlier ones, to every connection that this process opens from now on."""

    def limit(connection: BaseDatabaseWrapper, **_: object) -> None:
        if connection.vendor == "postgresql":
            _limit(connection, patience)

    connection_created.disconnect(dispatch_uid="patience")
    connection_created.connect(limit, weak=False, dispatch_uid="patience")


def spare_migrations(using: str, **_: object) -> None:
    """Before a room is migrated, on a connection that has the limits of a command."""
    if connections[using].vendor == "postgresql":
        _limit(connections[using], WITHOUT_END)


def _limit(connection: BaseDatabaseWrapper, patience: Patience) -> None:
    parameters = patience.parameters
    calls = ", ".join(["set_config(%s, %s, false)"] * len(parameters))
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {calls}", [part for pair in parameters.items() for part in pair])


def is_held(error: BaseException) -> bool:
    """Whether a statement gave up since another transaction holds the row."""
    return getattr(error.__cause__, "sqlstate", None) == LOCK_NOT_AVAILABLE


def is_unavailable(error: BaseException | None) -> bool:
    """Whether the database is unavailable: rows locked by others, a session that it ended, or a server that is down."""
    ended = getattr(getattr(error, "__cause__", None), "sqlstate", None) == SESSION_ENDED
    return ended or isinstance(error, OperationalError | InterfaceError)
