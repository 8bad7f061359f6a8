"""How wrong a draft will be, as a request for its budget keeps it: in English, and shown in each reader's language."""

from __future__ import annotations

import re

from django.utils.translation import gettext as _

from dpportal.charts.counted_word import of_number
from dpportal.platform.stored_texts import translated

# What `margin_text` says in English. Its template is nearly all values, by which no sentence could be known.
_STORED = re.compile(r"(?P<what>.+): (?:(?P<sign>\S) )?(?P<error>[\d.,]+) (?P<unit>.+)", re.DOTALL)


def margin_text(*, what: object, sign: str, error: str, unit: object) -> str:
    """“Margin of a count: ± 10 people”. what, unit: phrases of the catalogue."""
    values = {"what": what, "sign": sign, "error": error, "unit": of_number(str(unit), error)}
    return " ".join((_("%(what)s: %(sign)s %(error)s %(unit)s") % values).split())


def margin_shown(stored: str) -> str:
    """What a request keeps, in the language of whoever reads it."""
    parts = _STORED.fullmatch(stored)
    if parts is None:
        return translated(stored)
    what, unit = translated(parts["what"]), translated(parts["unit"])
    return margin_text(what=what, sign=parts["sign"] or "", error=parts["error"], unit=unit)
