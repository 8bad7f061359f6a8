"""The structure of a table of observations, as an SDMX-JSON 2.0.0 message: dataflow, data structure, concepts, codes.

Source: SDMX 3.0, SDMX-JSON 2.0.0 field guide for structure messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mechanisms.json_types import JsonObject

SCHEMA = (
    "https://raw.githubusercontent.com/sdmx-twg/sdmx-json/master/structure-message/tools/schemas/2.0.0/"
    "sdmx-json-structure-schema.json"
)
LANGUAGE = "en"
# What a code may be in a code list. Dimensions have no other lists (value lists are for measures and attributes).
_CODE = re.compile(r"[A-Za-z0-9_@$-]+")
TIME = "TIME_PERIOD"
MEASURE = "OBS_VALUE"


@dataclass(frozen=True)
class Dimension:
    """identifier: in SDMX. title: in words. values: all that it has, in order; empty where they are not known.

    titles: of codes that are no values of the table, by code; every other code is its own title.
    """

    identifier: str
    title: str
    values: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_time(self) -> bool:
        return self.identifier == TIME

    @property
    def has_codes(self) -> bool:
        """Whether its values are the codes of a list, which each of them can be."""
        return bool(self.values) and not self.is_time and all(map(_CODE.fullmatch, self.values))


@dataclass(frozen=True)
class Structure:
    """A table of observations. agency, identifier, version: of its dataflow, and of all that belongs to it.

    attributes: of an observation, titles by identifier.
    """

    agency: str
    identifier: str
    version: str
    title: str
    dimensions: Sequence[Dimension]
    attributes: Mapping[str, str]

    def urn(self, kind: str, identifier: str, item: str = "") -> str:
        """What names a thing of this structure. kind: package and class of SDMX."""
        place = f"{self.agency}:{identifier}({self.version})"
        return f"urn:sdmx:org.sdmx.infomodel.{kind}={place}{f'.{item}' if item else ''}"

    @property
    def concepts(self) -> str:
        return f"{self.identifier}_CONCEPTS"

    def list_of(self, dimension: Dimension) -> str:
        """The identifier of the list of a dimension's values."""
        return f"{self.identifier}_{dimension.identifier}"


def message(structure: Structure, prepared: str) -> JsonObject:
    """The message. prepared: a time by ISO 8601 that does not change where the same is written again."""
    data = {
        "codelists": [_list(structure, each) for each in structure.dimensions if each.has_codes],
        "conceptSchemes": [_concepts(structure)],
        "dataStructures": [_definition(structure)],
        "dataflows": [_dataflow(structure)],
    }
    return {
        "meta": {
            "schema": SCHEMA,
            "id": structure.identifier,
            "prepared": prepared,
            "contentLanguages": [LANGUAGE],
            "sender": {"id": structure.agency},
        },
        "data": {name: items for name, items in data.items() if items},
    }


def _item(structure: Structure, identifier: str, name: str) -> JsonObject:
    """What everything has that is kept for others."""
    own = {"agencyID": structure.agency, "version": structure.version}
    return {"id": identifier, **own, "name": name, "names": {LANGUAGE: name}}


def _list(structure: Structure, dimension: Dimension) -> JsonObject:
    titles = {code: dimension.titles.get(code, code) for code in dimension.values}
    codes = [{"id": code, "name": title, "names": {LANGUAGE: title}} for code, title in titles.items()]
    return {**_item(structure, structure.list_of(dimension), dimension.title), "codes": codes}


def _concepts(structure: Structure) -> JsonObject:
    titles = {each.identifier: each.title for each in structure.dimensions}
    titles |= {MEASURE: "Estimate with noise", **structure.attributes}
    concepts = [{"id": name, "name": title, "names": {LANGUAGE: title}} for name, title in titles.items()]
    return {**_item(structure, structure.concepts, f"Concepts of {structure.title}"), "concepts": concepts}


def _component(structure: Structure, identifier: str, representation: JsonObject) -> JsonObject:
    concept = structure.urn("conceptscheme.Concept", structure.concepts, identifier)
    return {"id": identifier, "conceptIdentity": concept, "localRepresentation": representation}


def _dimension(structure: Structure, dimension: Dimension) -> JsonObject:
    if dimension.is_time:
        how: JsonObject = {"format": {"dataType": "ObservationalTimePeriod"}}
    elif dimension.has_codes:
        how = {"enumeration": structure.urn("codelist.Codelist", structure.list_of(dimension))}
    else:
        how = {"format": {"dataType": "String"}}
    return _component(structure, dimension.identifier, how)


def _definition(structure: Structure) -> JsonObject:
    decimal = {"format": {"dataType": "Decimal"}}
    relation = {"attributeRelationship": {"observation": {}}, "usage": "optional"}
    plain = [_dimension(structure, each) for each in structure.dimensions if not each.is_time]
    times = [_dimension(structure, each) for each in structure.dimensions if each.is_time]
    positions = [{**each, "position": place} for place, each in enumerate(plain)]
    dimensions = {"id": "DimensionDescriptor", "dimensions": positions}
    attributes = [{**_component(structure, name, decimal), **relation} for name in structure.attributes]
    components = {
        "dimensionList": {**dimensions, **({"timeDimension": times[0]} if times else {})},
        "measureList": {"id": "MeasureDescriptor", "measures": [_component(structure, MEASURE, decimal)]},
        "attributeList": {"id": "AttributeDescriptor", "attributes": attributes},
    }
    return {
        **_item(structure, structure.identifier, structure.title),
        "dataStructureComponents": components,
    }


def _dataflow(structure: Structure) -> JsonObject:
    definition = structure.urn("datastructure.DataStructure", structure.identifier)
    return {**_item(structure, structure.identifier, structure.title), "structure": definition}
