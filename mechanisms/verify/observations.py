"""Whether SDMX-CSV beside a table has the table's numbers, and the structure message its dimensions and codes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from mechanisms.json_types import JsonObject
from mechanisms.summary.statistics import EMPTY_FIELDS
from mechanisms.tabular.sdmx import (
    AGENCY,
    MOST_CODES,
    VERSION,
    Layout,
    Observed,
    dataflow,
    structure_of,
)
from mechanisms.tabular.sdmx_codes import ALIKE, LONE, EmptyFields
from mechanisms.tabular.sdmx_structure import message
from mechanisms.verify import csv_file
from mechanisms.verify.bundle import STREAM, Bundle
from mechanisms.verify.finding import Finding
from mechanisms.verify.json_values import as_written

ENDING, STRUCTURE = ".sdmx.csv", ".sdmx.json"
# The column of a running count's series that says whose it is.
VALUE = "value"
_ENDS = ("interval_lower", "interval_upper")
# What totals tell of a column, each with both ends of its interval.
STATISTICS = ("number", "total", "mean", "deviation", "without_value", "share_at_low", "share_at_high")
# Of other products the columns of the estimate, and those that only the file for readers has, by how they begin.
_OBSERVED = {
    "histogram": (Observed("noisy_count", *_ENDS, "standard_error"), ("count",)),
    "summary": (Observed("estimate", *_ENDS), ()),
    "response": (Observed("estimate", *_ENDS, "standard_error"), ("count",)),
    STREAM: (Observed("released_count", *_ENDS, "standard_error"), ("increment", "never_falling")),
}


@dataclass(frozen=True)
class _Source:
    """A table whose observations they are. stem: of its file's name. empty: what its empty fields are, by column."""

    stem: str
    table: pd.DataFrame
    observed: Sequence[Observed]
    layout: Layout
    flow: str
    empty: Mapping[str, EmptyFields]

    def as_before(self) -> Iterator[_Source]:
        """As earlier versions wrote it: with empty fields, and without a list of codes where there were some.

        A running count that is alone had the code of a missing value.
        """
        yield replace(self, empty=dict.fromkeys(self.empty, EmptyFields("")))
        if self.empty.get(VALUE) == LONE:
            yield replace(self, empty={**self.empty, VALUE: EmptyFields()})


def check(bundle: Bundle, name: str, package: JsonObject) -> Finding:
    """name: of the observations, or of their structure. package: datapackage.json, which has the titles."""
    stem = name.removesuffix(ENDING).removesuffix(STRUCTURE)
    if f"{stem}.csv" not in bundle.entries:
        return Finding.of(name, "there is no table that it is made of", "")
    source = _source(bundle, stem)
    fault = _fault(bundle, name, source, package)
    if fault and any(_fault(bundle, name, former, package) == "" for former in source.as_before()):
        fault = ""
    return Finding.of(name, fault, f"it is made of {stem}.csv")


def _fault(bundle: Bundle, name: str, source: _Source, package: JsonObject) -> str:
    """What is otherwise than the table has it, in words; empty if nothing is."""
    if not name.endswith(ENDING):
        return _fault_of_structure(bundle, name, source, package)
    is_same = bundle.content(name) == "".join(_lines(source)).encode()
    return "" if is_same else "it has other observations"


def _source(bundle: Bundle, stem: str) -> _Source:
    table = csv_file.read(bundle, f"{stem}.csv")
    observed, aside = _observed(bundle.release["product"], [str(name) for name in table.columns])
    begins = str(table["begins"].iloc[0]) if "begins" in table and len(table) else ""
    layout = Layout.of([str(name) for name in table.columns], observed, aside, begins)
    known = _empty_fields(bundle.release["product"], table)
    empty = {
        name: known.get(name, EmptyFields()).without({*filter(ALIKE.fullmatch, table[name])})
        for name in layout.dimensions.values()
    }
    return _Source(stem, table, observed, layout, dataflow(stem, bundle_name(bundle)), empty)


def _empty_fields(product: str, table: pd.DataFrame) -> Mapping[str, EmptyFields]:
    """What empty fields stand for in the columns where that is not a missing value."""
    if product == STREAM and not any(table[VALUE]):
        return {VALUE: LONE}
    return EMPTY_FIELDS if product == "summary" else {}


def bundle_name(bundle: Bundle) -> str:
    """What packages and dataflows are called after."""
    kind = STREAM if bundle.release["product"] == STREAM else "release"
    return f"{kind}-{bundle.release[kind]}"


def _observed(product: str, names: list[str]) -> tuple[list[Observed], list[str]]:
    if product in _OBSERVED:
        estimate, begins = _OBSERVED[product]
        aside = [name for name in names if begins and name.startswith(begins)]
        # A column of the curator's may be called alike; those of numbers come last.
        return [estimate], aside[-1:] if product != STREAM else aside
    # A number is added to a name that is a column's of the curator, too.
    [*_before, measured] = [place for place, name in enumerate(names) if _is_called(name, "measured")]
    numbers, units = names[measured + 1 :], names[len(names) - _is_called(names[-1], "mean_unit") :]
    numbers = numbers[: len(numbers) - len(units)]
    return [
        Observed(value, lower, upper, statistic=_statistic(value))
        for value, lower, upper in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True)
    ], units


def _statistic(header: str) -> str:
    [statistic] = [each for each in STATISTICS if _is_called(header, each)]
    return statistic


def _is_called(header: str, name: str) -> bool:
    return re.fullmatch(rf"{name}(_[0-9]+)?", header) is not None


def _lines(source: _Source) -> Iterator[str]:
    """As pyarrow writes texts: in quotation marks."""
    yield _line(source.layout.header)
    always = ["dataflow", f"{AGENCY}:{source.flow}({VERSION})", "I"]
    dimensions = [_coded(source, name) for name in source.layout.dimensions.values()]
    for each in source.observed:
        columns = [source.table[name].tolist() for name in each.columns]
        statistic = [each.statistic.upper()] if source.layout.has_statistics else []
        error = [] if each.error else [""]
        for place in range(len(source.table)):
            named = [column[place] for column in dimensions]
            yield _line([*always, *named, *statistic, *(column[place] for column in columns), *error])


def _coded(source: _Source, name: str) -> list[str]:
    """A dimension with codes in its empty fields."""
    values, empty = source.table[name].tolist(), source.empty[name]
    by = source.table[empty.by or name].tolist()
    codes = (empty.other if empty.by and each in empty.values else empty.code for each in by)
    return [value or code for value, code in zip(values, codes, strict=True)]


def _line(fields: Sequence[str]) -> str:
    held = io.StringIO(newline="")
    csv.writer(held, quoting=csv.QUOTE_ALL, lineterminator="\n").writerow(fields)
    return held.getvalue()


def _fault_of_structure(bundle: Bundle, name: str, source: _Source, package: JsonObject) -> str:
    stated = json.loads(bundle.content(name))
    prepared, about = stated["meta"]["prepared"], stated["data"]["dataflows"][0]["name"]
    day = bundle.release.get("measured_at") or bundle.release["last_published_at"]
    # Without fractions of a second, which only this file has.
    if re.sub(r"\.[0-9]{1,6}(?=[+-])", "", prepared) != day:
        return "it was prepared at another time than the release was measured"
    titles = _titles(package, f"{source.stem}.csv")
    named = {
        column: (titles.get(column, column), _codes(source, column), source.empty[column])
        for column in source.layout.dimensions.values()
    }
    own = message(structure_of(source.layout, source.observed, source.flow, about, named), prepared)
    return "" if bundle.content(name) == as_written(own) else "it says other dimensions or codes"


def _titles(package: JsonObject, path: str) -> Mapping[str, str]:
    fields: list[JsonObject] = next(
        (each["schema"]["fields"] for each in package["resources"] if each["path"] == path), []
    )
    return {field["name"]: str(field.get("title", field["name"])) for field in fields}


def _codes(source: _Source, column: str) -> tuple[str, ...]:
    codes = dict.fromkeys(source.table[column].tolist())
    return () if len(codes) > MOST_CODES else source.empty[column].codes(codes)
