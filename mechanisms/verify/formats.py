"""The same tables in other formats: workbooks, Parquet, SDMX-CSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from mechanisms.json_types import JsonObject
from mechanisms.verify import observations, parquet, workbooks
from mechanisms.verify.bundle import Bundle
from mechanisms.verify.finding import Finding, State

PACKAGE = "datapackage.json"


def check(bundle: Bundle) -> Iterator[Finding]:
    """One finding a file."""
    package = json.loads(bundle.content(PACKAGE))
    for name in bundle.entries:
        for ending, checker in CHECKERS.items():
            if name.endswith(ending):
                try:
                    yield checker(bundle, name, package)
                except (LookupError, TypeError, ValueError) as fault:
                    yield Finding(name, State.FAILED, f"no portal writes it so ({type(fault).__name__})")
                break


def kinds(package: JsonObject, table: str) -> dict[str, str]:
    """The types of a table's columns."""
    resources = {each["path"]: each["schema"]["fields"] for each in package["resources"]}
    return {field["name"]: field["type"] for field in resources.get(table, [])}


def _workbook(bundle: Bundle, name: str, package: JsonObject) -> Finding:
    return workbooks.check(bundle, name, kinds(package, name.removesuffix(workbooks.ENDING) + ".csv"))


def _parquet(bundle: Bundle, name: str, package: JsonObject) -> Finding:
    return parquet.check(bundle, name, kinds(package, name.removesuffix(parquet.ENDING) + ".csv"))


CHECKERS: dict[str, Callable[[Bundle, str, JsonObject], Finding]] = {
    workbooks.ENDING: _workbook,
    parquet.ENDING: _parquet,
    observations.ENDING: observations.check,
    observations.STRUCTURE: observations.check,
}
