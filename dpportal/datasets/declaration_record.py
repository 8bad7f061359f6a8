"""What is declared of a dataset, in the audit record: columns by their place in the table, for names may be values."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.utils.translation import gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.audit_words import clause, clauses
from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset, DomainVersion
from dpportal.datasets.protection import HOW_NEIGHBOURS_DIFFER
from mechanisms.domain import Attribute

COLUMNS = gettext_noop("declared columns")
PROTECTED = gettext_noop("declared who is protected")
COLUMN, TOOK_BACK = gettext_noop("column %(places)s"), gettext_noop("took back: %(places)s")
ONE_ROW = gettext_noop("columns: %(columns)s")
COARSER, EACH_ROW = gettext_noop("a coarser one"), gettext_noop("each row")
# By whether capitals count in what names a person.
PERSON = {
    False: gettext_noop("a person is %(person)s, with at most %(rows)s rows"),
    True: gettext_noop("a person is %(person)s, without regard to case, with at most %(rows)s rows"),
}
PERSON_WITH_ONE_ROW = {
    False: gettext_noop("a person is %(person)s, with one row at most"),
    True: gettext_noop("a person is %(person)s, without regard to case, with one row at most"),
}


def columns_declared(dataset: Dataset, declarations: Mapping[str, Attribute | None], by: User | None) -> None:
    """declarations: of each column as it is now; None where it was taken back. by: None for the owner."""
    if declarations:
        places = {column["name"]: str(place) for place, column in enumerate(dataset.columns, 1)}
        unchanged = {
            places.get(attribute.column, "?") for attribute in declarations.values() if attribute is not None
        }
        left = {places.get(name, COARSER) for name, attribute in declarations.items() if attribute is None}
        parts = [clause(COLUMN, places=_listed(unchanged))] * bool(unchanged)
        parts += [clause(TOOK_BACK, places=_listed(left))] * bool(left)
        audit.record(by or dataset.owner, COLUMNS, dataset, clauses(*parts))


def _listed(places: set[str]) -> str:
    return ", ".join(sorted(places, key=lambda place: (len(place), place)))


def protection_declared(dataset: Dataset, version: DomainVersion, by: User | None) -> None:
    """by: None for the owner."""
    places = {column["name"]: str(place) for place, column in enumerate(dataset.columns, 1)}
    column = places.get(version.unit_column, "?")
    person = clause(COLUMN, places=column) if version.unit_column else EACH_ROW
    template = (PERSON_WITH_ONE_ROW if version.max_rows == 1 else PERSON)[version.ignore_case]
    differ = clause(HOW_NEIGHBOURS_DIFFER[version.neighbours])
    detail = clauses(differ, clause(template, person=person, rows=version.max_rows))
    audit.record(by or dataset.owner, PROTECTED, dataset, detail)


def one_row_confirmed(dataset: Dataset, columns: Collection[str], by: User) -> None:
    """columns: those that look as if they told persons apart, of whom each has one row all the same."""
    places = {str(place) for place, column in enumerate(dataset.columns, 1) if column["name"] in columns}
    detail = clause(ONE_ROW, columns=_listed(places)) if places else ""
    audit.record(by, gettext_noop("confirmed one row a person"), dataset, detail)
