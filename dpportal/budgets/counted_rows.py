"""Which of a dataset's rows a publication counts, as was declared; so two of them may count different ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.translation import gettext as _, ngettext

from dpportal.platform.listed_names import listed


@dataclass(frozen=True)
class CountedRows:
    """What decides whether a row counts, beside its own text.

    declared: the columns that it tells of, each with the digest of its declaration. closed: those that leave rows out,
    as readers see them. most_per_person: how many rows of a person count at most, drawn anew for each publication; None
    where a row is a person. is_of_now: whether it counts what a table that lies elsewhere held when it was read.
    is_of_periods: whether it counts what was sent for its periods, whatever the dataset holds.
    """

    declared: frozenset[tuple[str, str]] = frozenset()
    closed: tuple[str, ...] = ()
    most_per_person: int | None = None
    is_of_now: bool = False
    is_of_periods: bool = False


def differences(own: CountedRows, others: Iterable[tuple[str, CountedRows]]) -> list[str]:
    """A sentence for each reason why the same number may differ by more than noise; none where all count the same rows.

    own: of the publication whose page says it. others: title and counted rows of those that it names.
    """
    others = list(others)
    every = [own, *(rows for _title, rows in others)]
    reasons = []
    if len({frozenset(rows.closed) for rows in every}) > 1:
        reasons += [_of_own(own)] if own.closed else []
        reasons += [_of_other(title, rows) for title, rows in others if rows.closed]
    columns = frozenset[tuple[str, str]]().union(*(rows.declared for rows in every))
    if len({name for name, _digest in columns}) < len(columns):
        reasons.append(_("The columns were not declared in the same way for all of them."))
    most = next((rows.most_per_person for rows in every if rows.most_per_person is not None), None)
    if most is not None:
        reasons.append(_of_drawing(most))
    if any(rows.is_of_now for rows in every):
        reasons.append(_("The table was read at different times and may have changed."))
    if any(rows.is_of_periods for rows in every):
        reasons.append(
            _("A running count adds up what was sent for each period; the other releases count the dataset.")
        )
    return reasons


def _of_own(rows: CountedRows) -> str:
    text = _("This release leaves out rows without a declared value in %(columns)s.")
    return text % {"columns": listed(rows.closed)}


def _of_other(title: str, rows: CountedRows) -> str:
    text = _("“%(title)s” leaves out rows without a declared value in %(columns)s.")
    return text % {"title": title, "columns": listed(rows.closed)}


def _of_drawing(most: int) -> str:
    text = ngettext(
        "At most %(most)s row of each person counts, drawn anew for each release.",
        "At most %(most)s rows of each person count, drawn anew for each release.",
        most,
    )
    return text % {"most": most}
