"""Declarations that most rows would not fit, as far as the first rows tell.

Said to the curator before anything is spent; it decides on nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.datasets import derived
from dpportal.datasets.models import Dataset
from dpportal.datasets.truths import is_unread
from dpportal.platform.json_types import Json
from dpportal.platform.listed_names import listed
from dpportal.publications.verdict import percent
from dpportal.tables.facts import Meaning
from mechanisms.domain import Attribute, Boolean, Date, Integer, Real

MOST_NAMED = 10
# What a value has to mean to have a cell in a column of this kind. Every text can be a category.
MEANT: dict[str, Meaning] = {"integer": "number", "real": "number", "date": "date", "boolean": "truth"}
UNREADABLE = {
    "number": gettext_lazy("Unreadable as a number: %(count)s of the first %(values)s values (%(share)s)."),
    "date": gettext_lazy("Unreadable as a date: %(count)s of the first %(values)s values (%(share)s)."),
    "truth": gettext_lazy("Unreadable as yes or no: %(count)s of the first %(values)s values (%(share)s)."),
}


def is_unlike(attribute: Attribute | None, look: Json) -> bool:
    """Whether a described column's first rows were seen, and look like another kind than what is declared."""
    kind = look.get("kind")
    if look.get("repeats") is None or attribute is None or attribute.source:
        return False
    if isinstance(attribute, Boolean):
        return kind in ("integer", "real") and not look.get("truths")
    if isinstance(attribute, Integer | Real):
        return kind in ("text", "date", "boolean")
    return isinstance(attribute, Date) and kind != "date"


def unlike_warning(attribute: Attribute | None, look: Json) -> str:
    """What is said beside such a column; nothing beside others."""
    if not is_unlike(attribute, look):
        return ""
    if isinstance(attribute, Boolean):
        return _(
            "The first rows hold other numbers than 0 and 1: as yes or no, many rows would be unreadable."
        )
    if isinstance(attribute, Date):
        return _("The first rows do not look like dates: many rows would be unreadable.")
    return _("The first rows do not look like numbers: many rows would be unreadable.")


def unreadable_text(kind: str, look: Json, attribute: Attribute | None = None) -> str:
    """How many values of a described column's first rows a kind cannot read; nothing where there are none, or unknown.

    attribute: what is declared so, if that is whole: no and yes in other words are categories, of which any text can be
    one. Where these words are still to be written, the form asks for them.
    """
    kind, values = attribute.kind if attribute else kind, look.get("values", 0)
    if kind == "boolean" and is_unread(look):
        return ""
    meaning = MEANT.get(kind)
    count = look.get("unread", {}).get(meaning, 0) if meaning else 0
    if not (count and values and meaning):
        return ""
    shown = {"count": f"{count:,}", "values": f"{values:,}", "share": percent(count / values)}
    return str(UNREADABLE[meaning]) % shown


def unlike_text(dataset: Dataset, attributes: Collection[Attribute]) -> str:
    """What is said of those columns when they are saved; nothing where there are none."""
    looks = {column["name"]: column for column in derived.described_columns(dataset)}
    unlike = [a.name for a in attributes if is_unlike(a, looks.get(a.column, {}))]
    if not unlike:
        return ""
    shown = [f"“{name[:80]}”" for name in unlike[:MOST_NAMED]] + ["…"] * (len(unlike) > MOST_NAMED)
    text = _(
        "The first rows of %(columns)s do not look like the kind that you declared. Look at the fit, or choose another "
        "kind, before you spend anything."
    )
    return text % {"columns": listed(shown)}
