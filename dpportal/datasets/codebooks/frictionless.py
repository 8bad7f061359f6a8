"""Frictionless table schemas and data packages (datapackage.org, version 2) as codebooks."""

from __future__ import annotations

from dpportal.datasets.codebooks import ranges
from dpportal.datasets.codebooks.model import categories, titled
from dpportal.platform.json_types import Json
from dpportal.tables.meaning.number_syntax import FALSE_WORDS, TRUE_WORDS

# What the standard takes for yes and no where a field says nothing else.
TRUE_VALUES = ("true", "True", "TRUE", "1")
FALSE_VALUES = ("false", "False", "FALSE", "0")


def fields(entries: Json) -> list[Json] | None:
    """The fields of a schema, of a resource or of a package's first resource; None where it is none of these."""
    schema = entries
    resources = entries.get("resources")
    if isinstance(resources, list) and resources and isinstance(resources[0], dict):
        schema = resources[0]
    if isinstance(schema.get("schema"), dict):
        schema = schema["schema"]
    fields = schema.get("fields")
    are_fields = isinstance(fields, list) and all(isinstance(f, dict) and "name" in f for f in fields)
    return fields if are_fields else None


def read(fields: list[Json]) -> Json:
    """What is declared of each field whose values or bounds are stated."""
    entries = {str(field["name"]): (_entry(field), field.get("title")) for field in fields}
    return {name: titled(entry, title) for name, (entry, title) in entries.items() if entry}


def _entry(field: Json) -> Json | None:
    if field.get("type") == "boolean":
        return _yes_or_no(_words(field, "trueValues"), _words(field, "falseValues"))
    constraints = field.get("constraints")
    constraints = constraints if isinstance(constraints, dict) else {}
    values = field.get("categories") or constraints.get("enum")
    if isinstance(values, list) and values:
        return _categories(values)
    return _bounded(field.get("type"), constraints.get("minimum"), constraints.get("maximum"))


def _words(field: Json, key: str) -> list[str]:
    words = field.get(key)
    return [str(word) for word in words] if isinstance(words, list) else []


def _yes_or_no(yes: list[str], no: list[str]) -> Json:
    """A yes-or-no column; where its words are others than those that every table is read by, categories of them.

    Codes such as 1 and 2 would otherwise be read as yes and as neither, and whoever said no would be left out.
    """
    if {w.lower() for w in yes} <= {*TRUE_WORDS} and {w.lower() for w in no} <= {*FALSE_WORDS}:
        return {"kind": "boolean", "closed": True}
    yes, no = yes or list(TRUE_VALUES), no or list(FALSE_VALUES)
    return categories([*no, *yes], ["false"] * len(no) + ["true"] * len(yes))


def _categories(values: list[object]) -> Json:
    """Values, or objects of a value and its label."""
    pairs = [(v["value"], v.get("label", "")) if isinstance(v, dict) else (v, "") for v in values]
    return categories([str(value) for value, _label in pairs], [str(label) for _value, label in pairs])


def _bounded(kind: object, lower: str | float | None, upper: str | float | None) -> Json | None:
    if lower is None or upper is None:
        return None
    if kind in ("integer", "year"):
        return ranges.integer(int(lower), int(upper))
    if kind == "number":
        return ranges.real(float(lower), float(upper))
    return ranges.day(str(lower), str(upper)) if kind == "date" else None
