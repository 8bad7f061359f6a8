"""Declaring what a codebook says of a dataset's columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from dpportal.accounts.models import User
from dpportal.datasets import codebooks, services
from dpportal.datasets.common_values import with_own_cells
from dpportal.datasets.declared import declared_of, filled_of, titled_as_before
from dpportal.datasets.derived import written_truths
from dpportal.datasets.models import Dataset
from dpportal.datasets.truths import as_read
from mechanisms.domain import Attribute, Boolean


@dataclass(frozen=True)
class Taken:
    """What a codebook said. attributes: all that it declares. unknown: columns whose special values found no number."""

    book: codebooks.Codebook
    attributes: list[Attribute]
    unknown: list[str]


def take(dataset: Dataset, content: bytes, by: User) -> Taken:
    """Declare it; what it does not name stays as it is. Raises CodebookError or DomainError, and declares nothing.

    What is declared so already is not declared again: a version that releases keep is not copied for nothing.
    """
    book = codebooks.read(content, [column["name"] for column in dataset.columns])
    declared, marked = declared_of(dataset), filled_of(dataset)
    cells, unknown = _own_cells(declared, book)
    attributes = titled_as_before(dataset, [*_as_written(dataset, declared, book.attributes), *cells])
    filled = book.filled | (marked & {attribute.name for attribute in cells})
    changed = [
        attribute
        for attribute in attributes
        if attribute != declared.get(attribute.name)
        or (attribute.name in filled) != (attribute.name in marked)
    ]
    if changed:
        services.declare_all(dataset, changed, filled=filled, by=by)
    return Taken(book, attributes, unknown)


def written(dataset: Dataset) -> codebooks.Codebook:
    """What is declared, as a codebook that can be taken elsewhere.

    Coarser columns are made on a page of their own: a codebook is of the columns of the table.
    """
    version = dataset.current_domain()
    rows = [row for row in version.attributes.all() if not row.declared().source] if version else []
    filled = frozenset(row.column for row in rows if row.filled_from_data)
    return codebooks.Codebook(tuple(row.declared() for row in rows), filled)


def _as_written(
    dataset: Dataset, declared: dict[str, Attribute], attributes: Iterable[Attribute]
) -> Iterator[Attribute]:
    """Yes and no that a codebook does not spell keep the spelling that is declared, or else have the table's own.

    Those that it spells by words that are not read so become categories.
    """
    truths = written_truths(dataset)
    for attribute in attributes:
        if isinstance(attribute, Boolean) and not attribute.values:
            before = declared.get(attribute.name)
            values = before.values if isinstance(before, Boolean) else truths[attribute.name]
            attribute = replace(attribute, values=values)
        yield as_read(attribute) if isinstance(attribute, Boolean) else attribute


def _own_cells(declared: dict[str, Attribute], book: codebooks.Codebook) -> tuple[list[Attribute], list[str]]:
    """Declared numbers, whose special values of a codebook get cells; and columns that are not declared as numbers."""
    attributes = {name: with_own_cells(declared.get(name), texts) for name, texts in book.special_values}
    return [a for a in attributes.values() if a], [name for name, a in attributes.items() if a is None]
