"""Names of columns that a dataset has no longer: whatever keeps them, forgets them.

They may be the first person's record: a file without a line of names was read as if it had one. The first reservation
of budget fixes how the file is read, so nothing that was confirmed names them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass

from django.db.models import Model

from dpportal.datasets import left_traces
from dpportal.datasets.area_map import AreaMap
from dpportal.datasets.models import AttributeDeclaration, Dataset, DomainVersion


@dataclass(frozen=True)
class GoneColumns:
    """The names that a dataset's columns had."""

    dataset: Dataset
    names: frozenset[str]

    def are_in(self, *values: object) -> bool:
        """Whether texts, or JSON, hold any of them, perhaps within a longer text: rather too much is forgotten."""
        text = _plain(values)
        return any(_plain(name)[1:-1] in text for name in self.names)


Forget = Callable[[GoneColumns], None]
_forgetting: list[Forget] = []
_models: set[type[Model]] = {AreaMap, Dataset, DomainVersion, AttributeDeclaration}


def declare(forget: Forget, *models: type[Model]) -> None:
    """Called once by each room that keeps names of columns, when it is made ready. models: whose rows have them.

    forget: is called in the transaction in which columns lose their names, with the dataset's row locked.
    """
    _forgetting.append(forget)
    _models.update(models)


def tables() -> set[str]:
    """Of the database: those whose rows keep names of columns."""
    return {model._meta.db_table for model in _models}


def forget(dataset: Dataset, left: Collection[str]) -> None:
    """Have everything forget the names that are not left, and the database's files rid of them. For one transaction."""
    current = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
    gone = GoneColumns(current, frozenset(_known(current) - {*left, ""}))
    if not gone.names:
        return
    left_traces.note()
    still = {
        name: [column for column in getattr(current, name) if column not in gone.names]
        for name in ("one_row_columns", "filled_columns")
    }
    Dataset.objects.filter(pk=dataset.pk).update(**still)
    AreaMap.objects.filter(dataset=dataset, column__in=gone.names).delete()
    for each in _forgetting:
        each(gone)


def declared_names(dataset: Dataset) -> set[str]:
    """Those that a declaration names, or a choice of values, which was paid for."""
    rows = AttributeDeclaration.objects.filter(domain_version__dataset=dataset)
    attributes = [row.declared() for row in rows]
    names = {name for attribute in attributes for name in (attribute.name, attribute.column)}
    names |= set(dataset.domain_versions.values_list("unit_column", flat=True))
    return names | set(dataset.value_choices.values_list("column", flat=True))


def _known(dataset: Dataset) -> set[str]:
    names = {column["name"] for column in dataset.columns}
    return names | {*dataset.one_row_columns, *dataset.filled_columns} | declared_names(dataset)


def _plain(value: object) -> str:
    """As JSON, and as titles say names: with blanks."""
    return json.dumps(value, default=str, ensure_ascii=False).replace("_", " ")
