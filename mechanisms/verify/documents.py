"""Descriptions for programs, made again from release.json and the tables: datapackage.json, croissant.json, Jupyter.

Their titles and descriptions of columns and files are worded by the portal; `wording` looks at the numbers in them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from mechanisms.json_types import JsonObject
from mechanisms.tabular.croissant import DataFile, croissant
from mechanisms.verify import csv_file
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding
from mechanisms.verify.json_values import as_written
from mechanisms.verify.observations import bundle_name

PACKAGE, CROISSANT = "datapackage.json", "croissant.json"
OTHER_ORDER = "it describes a file twice, or in another order than release.json lists them"
_FIELD = {"name", "type", "title", "description", "trueValues", "falseValues"}
_INTEGER = re.compile(r"-?[0-9]+")
_READERS: dict[str, Callable[[str], object]] = {"number": float, "date": date.fromisoformat, "string": str}
_PAIRS = (("true", "false"), ("True", "False"))


def check(bundle: Bundle) -> Iterator[Finding]:
    """One finding a file. One that says to be of another version may have no croissant.json."""
    for name, checker in ((PACKAGE, _fault_of_package), (CROISSANT, _fault_of_croissant)):
        if name not in bundle.entries:
            yield Finding.by_version(
                name, "it is missing", is_sure=name == PACKAGE or bundle.is_of_this_version
            )
            continue
        try:
            fault = checker(bundle, json.loads(bundle.content(name)))
        except (LookupError, TypeError, ValueError) as error:
            fault = f"no portal writes it so ({type(error).__name__})"
        yield Finding.of(name, fault, "it is made of release.json and the tables")


def _fault_of_package(bundle: Bundle, stated: JsonObject) -> str:
    release = bundle.release
    own = {
        "profile": "tabular-data-package",
        "name": bundle_name(bundle),
        "title": release["title"],
        "description": release["statement"],
        **_frictionless(bundle, stated),
        "resources": [_resource(bundle, each) for each in stated["resources"]],
    }
    if bundle.content(PACKAGE) != as_written(own):
        return "it says something else than release.json and the tables"
    described = [each["path"] for each in stated["resources"]]
    if left_out := sorted(name for name in bundle.entries if _is_table(name) and name not in described):
        return f"it does not describe {left_out[0]}"
    if not _are_in_order(described, release):
        return OTHER_ORDER
    return next(filter(None, (_fault_of_fields(bundle, each) for each in stated["resources"])), "")


def _are_in_order(described: Sequence[str], release: JsonObject) -> bool:
    """Whether each is described once, in the order in which release.json lists files."""
    return [name for name in release["files"] if name in set(described)] == list(described)


def _is_table(name: str) -> bool:
    return name.endswith(".csv") and not name.endswith(".sdmx.csv")


def _resource(bundle: Bundle, stated: JsonObject) -> JsonObject:
    facts = bundle.release["files"][stated["path"]]
    blank = {"dialect": {"skipBlankRows": True}} if "dialect" in stated else {}
    return {
        "profile": "tabular-data-resource",
        "name": stated["path"].rpartition(".")[0],
        "path": stated["path"],
        "format": "csv",
        "mediatype": "text/csv",
        "encoding": "utf-8",
        "bytes": facts["bytes"],
        "hash": f"sha256:{facts['sha256']}",
        "schema": {"fields": stated["schema"]["fields"], "missingValues": [""]},
        **blank,
    }


def _fault_of_fields(bundle: Bundle, resource: JsonObject) -> str:
    """Columns are those of the file, and every value is of its column's type."""
    fields, table = resource["schema"]["fields"], csv_file.read(bundle, resource["path"])
    if [field["name"] for field in fields] != [str(name) for name in table.columns]:
        return f"it says other columns of {resource['path']}"
    for field in fields:
        texts = table[field["name"]].unique().tolist()
        if set(field) - _FIELD or not _are_of(field["type"], texts) or not _names_truths(field, texts):
            return f"it says another type of {field['name']} in {resource['path']}"
    return ""


def _names_truths(field: JsonObject, texts: list[str]) -> bool:
    """Whether a column of truths, and no other, says how it writes them, and does write them so."""
    pair = (field.get("trueValues"), field.get("falseValues"))
    if field["type"] != "boolean":
        return pair == (None, None)
    return any(pair == ([yes], [no]) and set(texts) <= {yes, no, ""} for yes, no in _PAIRS)


def _are_of(kind: str, texts: list[str]) -> bool:
    """Whether texts are values of a type; an empty one is a missing value."""
    given = [text for text in texts if text]
    if kind == "integer":
        return all(map(_INTEGER.fullmatch, given))
    if kind == "boolean":
        return True
    try:
        for text in given:
            _READERS[kind](text)
    except (KeyError, ValueError):
        return False
    return True


def _frictionless(bundle: Bundle, stated: JsonObject) -> JsonObject:
    """Keywords and licence of the dataset; the licence's name and address are the portal's."""
    about = bundle.release.get("about", {})
    keywords = {"keywords": about["keywords"]} if about.get("keywords") else {}
    if not about.get("licence") or "licenses" not in stated:
        return keywords
    [licence] = stated["licenses"]
    named = {"name": about["licence"], "title": str(licence["title"]), "path": str(licence["path"])}
    return {**keywords, "licenses": [named]}


def _fault_of_croissant(bundle: Bundle, stated: JsonObject) -> str:
    release, package = bundle.release, json.loads(bundle.content(PACKAGE))
    fields = {each["path"]: each["schema"]["fields"] for each in package["resources"]}
    files = [
        DataFile(name, str(each["description"]), facts["bytes"], facts["sha256"], fields.get(name, ()))
        for each in stated["distribution"]
        for name, facts in [(each["name"], release["files"][each["name"]])]
    ]
    if left_out := sorted(set(fields) - {file.name for file in files}):
        return f"it does not describe {left_out[0]}"
    if not _are_in_order([file.name for file in files], release):
        return OTHER_ORDER
    day = (release.get("measured_at") or release["last_published_at"])[:10]
    names = (bundle_name(bundle), release["title"])
    own = croissant(names, release["statement"], release["curator"], day, _described(bundle, stated), files)
    return "" if bundle.content(CROISSANT) == as_written(own) else "it says something else than release.json"


def _described(bundle: Bundle, stated: JsonObject) -> JsonObject:
    """What the curator says of the dataset; the licence's address is the portal's."""
    about = bundle.release.get("about", {})
    first, last = about.get("from", ""), about.get("to", "")
    interval = first if first == last else f"{first or '..'}/{last or '..'}"
    facts = {
        "license": str(stated.get("license", "")) if about.get("licence") else "",
        "keywords": about.get("keywords", []),
        "publisher": {"@type": "Organization", "name": about["publisher"]} if "publisher" in about else "",
        "spatialCoverage": about.get("place", ""),
        "temporalCoverage": interval,
    }
    return {name: value for name, value in facts.items() if value}
