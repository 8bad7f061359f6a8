"""What a line of the audit record says beside its act: clauses in English, which readers see in their own language.

A clause is a template of the catalogue, filled in. It is stored as text, of which the history has a digest, and
recognised again when it is shown; lines of earlier versions are recognised, too, as far as they were written so.
"""

from __future__ import annotations

from django.utils.translation import gettext_noop

from dpportal.platform.listed_names import joint
from dpportal.platform.stored_texts import in_site_language, translated

# From which address, or from whom.
CAME_FROM = gettext_noop("from %(name)s")
_BETWEEN = "; "


@in_site_language
def clause(template: str, **values: object) -> str:
    """A clause for the record, whoever acts. template: marked by `gettext_noop`, with names for the values."""
    return template % {name: str(value) for name, value in values.items()}


def clauses(*text: str) -> str:
    """Several, of which those are left out that say nothing."""
    return _BETWEEN.join(filter(None, text))


def shown(detail: str) -> str:
    """What a line says, in the reader's language as far as the words are the portal's."""
    return joint(";").join(translated(part) for part in detail.split(_BETWEEN))
