"""What is declared of a dataset's columns now."""

from __future__ import annotations

from dpportal.datasets.models import AttributeDeclaration, Dataset
from mechanisms.domain import Attribute


def declared_of(dataset: Dataset) -> dict[str, Attribute]:
    """What is declared now, by the name of the column."""
    version = dataset.current_domain()
    return {a.column: a.declared() for a in version.attributes.all()} if version else {}


def filled_of(dataset: Dataset) -> set[str]:
    """The declared columns that bear the mark of values taken from the data."""
    version = dataset.current_domain()
    marked = (
        version.attributes.filter(filled_from_data=True) if version else AttributeDeclaration.objects.none()
    )
    return set(marked.values_list("column", flat=True))
