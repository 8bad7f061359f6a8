"""What a curator reads where another database refuses a query or breaks off. Its own words can quote a value."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from dpportal.tables.faults import SourceFault

# By the stable name of what is wrong.
WORDS: Mapping[str, Promise] = {
    "credential": _("The database refuses the user or its password. Ask an administrator."),
    "rights": _("The connection's user may not read this table. Ask an administrator."),
    "table": _("The table is not there any more, or has another name. Ask an administrator."),
    "column": _("A column of the table is not there any more, or has another name."),
    "time": _(
        "The database stopped the query, since it ran longer than the connection allows. Declare fewer columns, "
        "or ask an administrator to allow more time."
    ),
    "lost": _("The connection to the database was lost while it counted. Try again later."),
    "unreachable": _(
        "The database does not answer at its address, or not as encrypted as it is declared. Try again later, or ask "
        "an administrator."
    ),
    "refused": _("The database refused the query (its code is %(code)s). Ask an administrator."),
}


def fault(name: str, code: object = "", words: Mapping[str, Promise] = WORDS) -> SourceFault:
    """A fault by its name. code: the engine's own. words: with those that an engine has besides."""
    return SourceFault(name, str(words[name]) % {"code": code})
