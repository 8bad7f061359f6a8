"""What ClickHouse's error codes mean for a curator. Its own words can quote a value, and are not shown."""

from __future__ import annotations

from django.utils.translation import gettext as _

# https://github.com/ClickHouse/ClickHouse/blob/master/src/Common/ErrorCodes.cpp
CREDENTIAL = (192, 193, 194, 516)
RIGHTS = 497
TABLE = (60, 81)
COLUMN = (8, 16, 47)
TIME = (159, 160)
ROWS, BYTES = 158, 307
READONLY = 164
SETTINGS = (115, 452)
MEMORY = 241
BUSY = 202
LOST = (209, 210, 279, 394)
# Faults of the moment, by their names: they say nothing of what a table is made of.
PASSING = ("time", "lost", "busy", "memory")


def fault_of(code: int) -> tuple[str, str]:
    """A stable name of what is wrong, and a message."""
    if code in CREDENTIAL:
        return "credential", _("The database refuses the user or its password. Ask an administrator.")
    if code == RIGHTS:
        return "rights", _("The connection's user may not read this table. Ask an administrator.")
    if code in TABLE:
        return "table", _("The table is not there any more, or has another name. Ask an administrator.")
    if code in COLUMN:
        return "column", _("A column of the table is not there any more, or has another name.")
    if code in TIME:
        return out_of_time()
    if code in (ROWS, BYTES):
        return "rows" if code == ROWS else "bytes", _(
            "The database stopped the query, since it read more than the connection allows. Ask an administrator to "
            "raise the limit, or to offer a smaller table or view."
        )
    if code == READONLY:
        return "writes", _(
            "Reading this table would write to the database or change settings, which the portal never does."
        )
    if code in SETTINGS:
        return settings_refused()
    if code == MEMORY:
        return "memory", _(
            "The query needs more memory than the database allows its user. Declare fewer columns, or ask an "
            "administrator to allow more."
        )
    if code == BUSY:
        return "busy", _("The database has too much to do. Try again later.")
    if code in LOST:
        return lost()
    refused = _("The database refused the query (its code is %(code)s). Ask an administrator.")
    return "refused", refused % {"code": code}


def settings_refused() -> tuple[str, str]:
    """Its code and words: the user's profile forbids settings."""
    return "settings", _(
        "The connection's user may not change settings on which the meaning of a query depends. Ask an administrator "
        "to give this user a profile without constraints; it may have readonly = 2, but not readonly = 1."
    )


def out_of_time() -> tuple[str, str]:
    """Its code and words: the query took too long."""
    return "time", _(
        "The database stopped the query, since it ran longer than the connection allows. Declare fewer columns, "
        "or ask an administrator to allow more time."
    )


def lost() -> tuple[str, str]:
    """Its code and words: the connection broke."""
    return "lost", _("The connection to the database was lost while it counted. Try again later.")


def unreachable() -> tuple[str, str]:
    """Its code and words: there is no connection."""
    return "unreachable", _(
        "The database does not answer at its address, or not as encrypted as it is declared. Try again later, or ask "
        "an administrator."
    )
