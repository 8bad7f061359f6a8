"""What is declared of a dataset's columns now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpportal.datasets.models import AttributeDeclaration, Dataset
from mechanisms.domain import Attribute


def declared_of(dataset: Dataset) -> dict[str, Attribute]:
    """What is declared now, by the name of the column."""
    version = dataset.current_domain()
    return {a.column: a.declared() for a in version.attributes.all()} if version else {}


def titled_as_before(dataset: Dataset, attributes: Iterable[Attribute]) -> list[Attribute]:
    """Declarations that say no name for readers, each with the one that its column has been given."""
    declared = declared_of(dataset)
    return [
        replace(new, title=declared[new.name].title) if new.name in declared and not new.title else new
        for new in attributes
    ]


def copied(source: Dataset, dataset: Dataset) -> tuple[list[Attribute], set[str]]:
    """What a dataset declares of the columns that another one has, too, and which of these were taken from its data."""
    known = {column["name"] for column in dataset.columns}
    version = source.current_domain()
    rows = [row for row in version.attributes.all() if row.declared().column in known] if version else []
    return [row.declared() for row in rows], {row.column for row in rows if row.filled_from_data}


def filled_of(dataset: Dataset) -> set[str]:
    """The declared columns that bear the mark of values taken from the data."""
    version = dataset.current_domain()
    marked = (
        version.attributes.filter(filled_from_data=True) if version else AttributeDeclaration.objects.none()
    )
    return set(marked.values_list("column", flat=True))
