"""Whether a connection works: signs in as a job does and looks at each table's columns; no row is read.

Every failure to sign in gets the same words at the same time, so that a test reveals nothing of ports, servers and
passwords; the log has the reason.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, TimeoutError as LateError
from dataclasses import dataclass

from django.utils.translation import gettext as _, ngettext

from dpportal.tables.connections.models import Connection, SharedTable
from dpportal.tables.engines import credentials, definitions, protocol as engine
from dpportal.tables.engines.registry import engine_of
from dpportal.tables.faults import SourceFault

log = logging.getLogger(__name__)
# A test that fails takes so long, whatever it fails for.
ANSWER_SECONDS = 10.0
# What only a server says that took the password, and what is wrong on this machine.
TELLABLE = {"version", "encoding", "functions", "settings", "package"}


@dataclass(frozen=True)
class TrialResult:
    """The result for a connection or a table of it."""

    what: str
    text: str
    works: bool = True


def tried(connection: Connection) -> Iterator[TrialResult]:
    """What was found, the connection first. Raises SourceFault if there is no session at all."""
    credentials.password(connection)
    yield TrialResult(str(connection), _("%(version)s answers.") % {"version": _version(connection)})
    speaking = engine_of(connection)
    for table in connection.tables.select_related("connection"):
        try:
            # A session each: one that met a fault answers nothing more.
            with speaking.reading(connection) as session:
                columns = _columns(session, speaking.source(table), table)
        except SourceFault as fault:
            yield TrialResult(table.title, fault.message, works=False)
        else:
            text = ngettext("%(columns)s column.", "%(columns)s columns.", columns)
            yield TrialResult(table.title, text % {"columns": columns})


def _columns(session: engine.Session, source: str, table: SharedTable) -> int:
    """How many there are. Raises SourceFault where the table could not be counted."""
    columns = len(session.describe(source))
    session.relations(source)
    definitions.check_shifts(session.definition(table), vouched=bool(table.vouched))
    return columns


def _version(connection: Connection) -> str:
    """The engine that answers. Raises SourceFault, of whatever has to do with the way to it not before its time."""
    begun = time.monotonic()
    answer: Future[str] = Future()
    threading.Thread(target=_sign_in, args=(connection, answer), daemon=True).start()
    try:
        return answer.result(ANSWER_SECONDS)
    except SourceFault as fault:
        if fault.code in TELLABLE:
            raise
        reason = fault.code
    except LateError:
        reason = "late"
    except Exception as error:
        reason = type(error).__name__
    log.warning("test of connection %s failed: %s", connection.pk, reason)
    time.sleep(max(0.0, begun + ANSWER_SECONDS - time.monotonic()))
    raise SourceFault("test", _(NO_SESSION))


def _sign_in(connection: Connection, answer: Future[str]) -> None:
    """A session from begin to end, in a thread of its own, since some engines wait long for one that says nothing."""
    try:
        with engine_of(connection).reading(connection) as session:
            answer.set_result(session.version)
    except BaseException as error:
        if not answer.done():
            answer.set_exception(error)


NO_SESSION = (
    "No session. Either nothing answers there, or it is another server, or not as encrypted as declared, or it refuses "
    "the user, the password or the database, or, as a PostgreSQL, does not ask for the password by SCRAM-SHA-256. "
    "Whoever runs the portal finds in its log which."
)
