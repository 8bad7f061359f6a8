"""Whether a connection works: signs in as a job does and looks at each table's columns; no row is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dpportal.connections import definitions, engine
from dpportal.connections.faults import SourceFault
from dpportal.connections.models import Connection


@dataclass(frozen=True)
class Said:
    """What was found of a connection or of a table of it."""

    what: str
    text: str
    works: bool = True


def tried(connection: Connection) -> Iterator[Said]:
    """What was found, the connection first. Raises SourceFault if there is no session at all."""
    speaking = engine.of(connection)
    with speaking.reading(connection) as session:
        yield Said(str(connection), _("%(version)s answers.") % {"version": session.version})
    for table in connection.tables.select_related("connection"):
        try:
            # A session each: one that met a fault answers nothing more.
            with speaking.reading(connection) as session:
                columns = len(session.describe(speaking.source(table)))
                session.relations(speaking.source(table))
                definitions.check_shifts(session.definition(table), vouched=bool(table.vouched))
        except SourceFault as fault:
            yield Said(table.title, fault.message, works=False)
        else:
            found = ngettext("%(columns)s column.", "%(columns)s columns.", columns)
            yield Said(table.title, found % {"columns": columns})
