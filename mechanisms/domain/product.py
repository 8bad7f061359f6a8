"""The product of declared columns, and how one is read from what a file says."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from mechanisms.domain.attribute import Attribute, DomainError
from mechanisms.domain.categories import Boolean, Categorical
from mechanisms.domain.ordered import Date, Integer, Real
from mechanisms.json_types import JsonObject


@dataclass(frozen=True)
class Domain:
    """The product of its attributes' cells, in C order (the last attribute changes fastest)."""

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        if len({a.name for a in self.attributes}) != len(self.attributes):
            raise DomainError("A column appears twice in the domain.")

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.attributes)

    @cached_property
    def shown_names(self) -> tuple[str, ...]:
        """What readers see in place of the names."""
        return tuple(a.shown_name for a in self.attributes)

    @cached_property
    def titles(self) -> dict[str, str]:
        """What readers see, by each name."""
        return dict(zip(self.names, self.shown_names, strict=True))

    @cached_property
    def for_readers(self) -> Domain:
        """The same columns under the names that readers see; two that are called alike keep their own beside it."""
        shown = self.shown_names
        names = [
            title if shown.count(title) == 1 else f"{title} ({name})"
            for title, name in zip(shown, self.names, strict=True)
        ]
        if len(set(names)) < len(names):
            return self
        named = (replace(a, name=name, title=name) for a, name in zip(self.attributes, names, strict=True))
        return Domain(tuple(named))

    @cached_property
    def read(self) -> tuple[str, ...]:
        """The columns of the table that are read, each once."""
        return tuple(dict.fromkeys(a.column for a in self.attributes))

    def read_twice(self) -> list[tuple[str, ...]]:
        """The names of those attributes that read the same column of the table as another, together."""
        named = [tuple(a.name for a in self.attributes if a.column == column) for column in self.read]
        return [names for names in named if len(names) > 1]

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(a.size for a in self.attributes)

    @property
    def leaves_out(self) -> bool:
        """Whether a row can be left out of the count; then the number of rows counted is not public."""
        return any(a.leaves_out for a in self.attributes)

    @cached_property
    def size(self) -> int:
        """Number of cells, an exact Python integer however large."""
        return math.prod(self.shape)

    def project(self, names: Sequence[str]) -> Domain:
        """The domain of some of the columns, in the order given."""
        by_name = {a.name: a for a in self.attributes}
        return Domain(tuple(by_name[name] for name in names))

    def to_json(self) -> list[dict[str, object]]:
        return [a.to_json() for a in self.attributes]

    @classmethod
    def from_json(cls, value: Sequence[JsonObject]) -> Domain:
        return cls(tuple(map(attribute_from_json, value)))


KINDS: dict[str, type[Attribute]] = {c.kind: c for c in (Categorical, Boolean, Integer, Real, Date)}


def attribute_from_json(value: JsonObject) -> Attribute:
    """Build an attribute from what its `to_json` wrote."""
    fields: dict[str, Any] = {
        key: tuple(v) if isinstance(v, list) else v for key, v in value.items() if key != "kind"
    }
    if value["kind"] == Date.kind:
        fields |= {key: dt.date.fromisoformat(fields[key]) for key in ("lower", "upper")}
    return KINDS[value["kind"]](**fields)
