"""What ClickHouse's error codes mean for a curator. Its own words can quote a value, and are not shown."""

from __future__ import annotations

from functools import partial

from django.utils.translation import gettext_lazy as _

from dpportal.tables.engines import fault_words
from dpportal.tables.faults import SourceFault

# https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
NAMES = {
    **dict.fromkeys((192, 193, 194, 516), "credential"),
    497: "rights",
    **dict.fromkeys((60, 81), "table"),
    **dict.fromkeys((8, 16, 47), "column"),
    **dict.fromkeys((159, 160), "time"),
    158: "rows",
    307: "bytes",
    164: "writes",
    **dict.fromkeys((115, 452), "settings"),
    241: "memory",
    202: "busy",
    **dict.fromkeys((209, 210, 279, 394), "lost"),
}
# Faults of the moment, by their names: they say nothing of what a table is made of.
PASSING = ("time", "lost", "busy", "memory")
READ_TOO_MUCH = _(
    "The database stopped the query, since it read more than the connection allows. Ask an administrator to "
    "raise the limit, or to offer a smaller table or view."
)
WORDS = {
    **fault_words.WORDS,
    "rows": READ_TOO_MUCH,
    "bytes": READ_TOO_MUCH,
    "writes": _(
        "Reading this table would write to the database or change settings, which the portal never does."
    ),
    "settings": _(
        "The connection's user may not change settings on which the meaning of a query depends. Ask an administrator "
        "to give this user a profile without constraints; it may have readonly = 2, but not readonly = 1."
    ),
    "memory": _(
        "The query needs more memory than the database allows its user. Declare fewer columns, or ask an "
        "administrator to allow more."
    ),
    "busy": _("The database has too much to do. Try again later."),
}
fault = partial(fault_words.fault, words=WORDS)


def fault_of(code: int) -> SourceFault:
    """What a code of the server means."""
    return fault(NAMES.get(code, "refused"), code)
