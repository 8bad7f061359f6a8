"""How a table of counts or totals becomes SDMX-CSV: a line for each observation.

Every column that names cells is a dimension; an estimate is OBS_VALUE, and its interval and standard error are
attributes.

Source: SDMX 3.0, SDMX-CSV 2.0.0 field guide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mechanisms.tabular.sdmx_codes import EmptyFields
from mechanisms.tabular.sdmx_structure import MEASURE, TIME, Dimension, Structure

AGENCY, VERSION = "DPPORTAL", "1.0.0"
STRUCTURE = ("STRUCTURE", "STRUCTURE_ID", "ACTION")
ABOUT_ATTRIBUTES = {
    "LOWER_BOUND": "Lower end of the 95 % interval",
    "UPPER_BOUND": "Upper end of the 95 % interval",
    "STANDARD_ERROR": "Standard error of the noise",
}
ATTRIBUTES = (MEASURE, *ABOUT_ATTRIBUTES)
# Names of columns that are no dimension.
TAKEN = {*STRUCTURE, "STATISTIC", *ATTRIBUTES}
# Of a dimension with more values they are not listed.
MOST_CODES = 10_000
# What an identifier of SDMX may be.
_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DAYS = re.compile(r"[0-9]{4}-[0-9]{2}(-[0-9]{2})?")


@dataclass(frozen=True)
class Observed:
    """The columns of one estimate: itself, the ends of its interval, and its standard error if that has one.

    statistic: what is estimated, where a table has several.
    """

    value: str
    lower: str
    upper: str
    error: str = ""
    statistic: str = ""

    @property
    def columns(self) -> list[str]:
        return [name for name in (self.value, self.lower, self.upper, self.error) if name]


@dataclass(frozen=True)
class Layout:
    """dimensions: columns of the CSV file, by the identifiers that they get."""

    dimensions: dict[str, str]
    has_statistics: bool

    @classmethod
    def of(
        cls, names: Iterable[str], observed: Sequence[Observed], aside: Iterable[str], first_begins: str
    ) -> Layout:
        """names: of the CSV file's columns. first_begins: when its first period begins, empty without periods."""
        others = {*aside, *(column for each in observed for column in each.columns)}
        known = {"begins": TIME} if _DAYS.fullmatch(first_begins) else {}
        dimensions: dict[str, str] = {}
        for place, name in enumerate((name for name in names if name not in others), 1):
            own = known.get(name, _identifier(name, f"DIMENSION_{place}"))
            while own in dimensions or own in TAKEN:
                own = f"{own}_{place}"
            dimensions[own] = name
        return cls(dimensions, len(observed) > 1)

    @property
    def header(self) -> list[str]:
        statistic = ["STATISTIC"] if self.has_statistics else []
        return [*STRUCTURE, *self.dimensions, *statistic, *ATTRIBUTES]


def dataflow(stem: str, name: str) -> str:
    """The identifier of a table's dataflow. stem: of the file's name. name: of the bundle."""
    return _identifier(f"{name}_{stem}", "TABLE")


def structure_of(
    layout: Layout,
    observed: Sequence[Observed],
    flow: str,
    about: str,
    named: Mapping[str, tuple[str, tuple[str, ...], EmptyFields]],
) -> Structure:
    """What observations are made of.

    named: of each column its title, its codes, without where they are many, and those of its empty fields.
    """
    dimensions = []
    for own, column in layout.dimensions.items():
        title, codes, empty = named[column]
        dimensions.append(Dimension(own, title, codes, empty.titles()))
    if layout.has_statistics:
        statistics = tuple(each.statistic.upper() for each in observed)
        dimensions.append(Dimension("STATISTIC", "What is estimated", statistics))
    return Structure(AGENCY, flow, VERSION, about, dimensions, ABOUT_ATTRIBUTES)


def _identifier(name: str, otherwise: str) -> str:
    plain = re.sub(r"[-.]", "_", name)
    return plain.upper() if _IDENTIFIER.fullmatch(plain) else otherwise
