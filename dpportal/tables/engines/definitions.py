"""What a connected table is made of: whether that changed since it was declared, and whether rows decide on others."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _, gettext_lazy

from dpportal.platform.listed_names import joint
from dpportal.tables.faults import SourceFault

# Why a row of one person can decide whether, or how often, rows of others are in a source.
SHIFTS = {
    "limit": gettext_lazy("it takes only some of the rows (LIMIT, OFFSET, DISTINCT ON)"),
    "sample": gettext_lazy("it draws a sample of the rows"),
    "window": gettext_lazy("it compares rows with others (window functions)"),
    "aggregate": gettext_lazy("it makes one row of several (GROUP BY, DISTINCT or an aggregate)"),
    "join": gettext_lazy("it joins tables, so a row can come several times"),
    "union": gettext_lazy(
        "it puts tables together (UNION, INTERSECT, EXCEPT), so a row can come several times"
    ),
    "subquery": gettext_lazy("it asks another query about each row, or gives a name to a query (WITH)"),
    "rows": gettext_lazy("it makes rows of its own (by a function, or WITH FILL)"),
    "volatile": gettext_lazy(
        "a function in it gives something else each time, or depends on more than its row"
    ),
    "place": gettext_lazy("it asks where or when rows are stored, which other rows decide on"),
    "found": gettext_lazy(
        "the types of its columns are found in its rows (JSON, CSV or other files that no catalog knows)"
    ),
    "function": gettext_lazy("somebody's own function in it may read other rows"),
    "foreign": gettext_lazy("it reads another server, of which nothing is known here"),
    "final": gettext_lazy("it merges rows while it reads them"),
    "merged": gettext_lazy(
        "it joins, changes or drops stored rows later, and other rows decide when (a merging engine, TTL)"
    ),
    "append": gettext_lazy(
        "each refresh adds its rows again (REFRESH … APPEND), so a row can come several times"
    ),
    "hidden": gettext_lazy("the connection's user may not see what it is made of"),
    "policies": gettext_lazy(
        "the connection's user may not see the row policies that may hide rows of it (in ClickHouse this user needs "
        "SELECT ON system.row_policies, or SHOW ROW POLICIES)"
    ),
    "unknown": gettext_lazy("it has a step that the portal does not know"),
}


@dataclass(frozen=True)
class SourceDefinition:
    """What a source is made of now.

    parts: a digest of the definition of each view, table and function that it comes to, by its name.
    shifts: of SHIFTS, sorted.
    """

    parts: dict[str, str]
    shifts: tuple[str, ...]

    @classmethod
    def of(cls, texts: Mapping[str, str], shifts: Iterable[str]) -> SourceDefinition:
        """texts: the definitions, which can hold words that nobody but their server should have."""
        return cls({name: _digest(text) for name, text in texts.items()}, tuple(sorted(set(shifts))))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def digest(parts: Mapping[str, str]) -> str:
    """One digest of all parts."""
    return _digest("\n".join(f"{name} {parts[name]}" for name in sorted(parts)))


def changes(declared: Mapping[str, str], current: Mapping[str, str]) -> list[str]:
    """What changed, in words; empty if nothing did."""
    lines = [
        (
            _("%(name)s is defined in another way"),
            [n for n in current if declared.get(n, current[n]) != current[n]],
        ),
        (_("%(name)s was added"), [name for name in current if name not in declared]),
        (_("%(name)s is not read any more"), [name for name in declared if name not in current]),
    ]
    return [line % {"name": name} for line, names in lines for name in sorted(names)]


def check(declared: Mapping[str, str], current: SourceDefinition, *, vouched: bool) -> None:
    """Raise SourceFault if a source is made of something else than was declared, or needs an administrator's word."""
    if changed := changes(declared, current.parts):
        raise SourceFault(
            "definition",
            _(
                "What this table is made of changed since the dataset was made: %(changes)s. So one person may have "
                "other or more rows in it than was declared. Nothing was counted. Ask an administrator, who can look "
                "at the change and accept it in the admin."
            )
            % {"changes": joint(";").join(changed)},
        )
    check_shifts(current, vouched=vouched)


def check_shifts(current: SourceDefinition, *, vouched: bool) -> None:
    """Raise SourceFault if one person's row could decide on others' and no administrator gave a word for it."""
    if current.shifts and not vouched:
        raise SourceFault(
            "shifts",
            _(
                "In this table a row of one person may decide on rows of others: %(reasons)s. Then noise for one "
                "person's rows would not be enough. Ask an administrator to offer a table or view without that, or to "
                "sign, where the table is offered, why each person's rows are theirs alone."
            )
            % {"reasons": joint(";").join(str(SHIFTS[shift]) for shift in current.shifts)},
        )
