"""What is declared of a dataset, in the audit record: columns by their place in the table, for names may be values."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_noop

from dpportal.accounts import audit
from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset, DomainVersion
from mechanisms.domain import Attribute

COLUMNS = gettext_noop("declared columns")
PROTECTED = gettext_noop("declared who is protected")


def columns_declared(dataset: Dataset, said: Mapping[str, Attribute | None], by: User | None) -> None:
    """said: what each column is declared as now; None where its declaration was taken back. by: None for the owner."""
    if said:
        places = {column["name"]: str(place) for place, column in enumerate(dataset.columns, 1)}
        kept = {places.get(attribute.column, "?") for attribute in said.values() if attribute is not None}
        left = {places.get(name, "a coarser one") for name, attribute in said.items() if attribute is None}
        parts = [f"column {_listed(kept)}"] * bool(kept) + [f"took back: {_listed(left)}"] * bool(left)
        audit.record(by or dataset.owner, COLUMNS, dataset, "; ".join(parts))


def _listed(places: set[str]) -> str:
    return ", ".join(sorted(places, key=lambda place: (len(place), place)))


def protection_declared(dataset: Dataset, version: DomainVersion, by: User | None) -> None:
    """by: None for the owner."""
    places = {column["name"]: str(place) for place, column in enumerate(dataset.columns, 1)}
    person = f"column {places.get(version.unit_column, '?')}" if version.unit_column else "each row"
    case = ", without regard to case" if version.ignore_case else ""
    detail = f"{version.neighbours}; a person is {person}{case}, with at most {version.max_rows} rows"
    audit.record(by or dataset.owner, PROTECTED, dataset, detail)
