"""What a plan of Spark says that it reads, as EXPLAIN tells it in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dpportal.tables.connections.cost_estimate import Expected

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
# What Spark says of a table that it knows nothing of.
UNKNOWN_BYTES = 2**63 - 1
# The nodes of a plan with nothing below them.
LEAF = re.compile(
    r"^[ :+-]*(?P<node>(?:\w*Relation\w*|\w*RDD|Range|\w*Scan|CommandResult)\b.*)"
    r"Statistics\(sizeInBytes=(?P<size>[0-9.E+]+) (?P<unit>[KMGTPE]?i?B)(?:, rowCount=(?P<rows>[0-9.E+]+))?",
    re.MULTILINE,
)
WITHIN = ("LocalRelation", "OneRowRelation")
RELATION = re.compile(r"(?:HiveTable)?Relation(?:V2)?(?:\[[^\]]*\])? (?:\[(?=`))?((?:[^\[\s,`]|`[^`]*`)+)")
NAMED = re.compile(rf"^[ :+-]*{RELATION.pattern}", re.MULTILINE)
PLACES = re.compile(r"Location: \w+\(\d+ paths?\)\[([^\]]*)\]")


@dataclass(frozen=True)
class Leaf:
    """Where a plan reads. relation: its name, if it has one. rows, bytes: None if not known."""

    relation: str
    rows: int | None
    bytes: int | None


# What a query brings with it.
WITH_QUERY = Leaf("", 0, 0)


def leaves(plan: str) -> list[Leaf]:
    """What the optimised plan reads, as EXPLAIN COST tells it; of what the query brings with it, nothing."""
    part = plan.partition("== Optimized Logical Plan ==\n")[2].partition("\n== ")[0]
    return [_leaf(match) for match in LEAF.finditer(part)]


def _leaf(match: re.Match[str]) -> Leaf:
    if match["node"].startswith(WITHIN):
        return WITH_QUERY
    name = RELATION.match(match["node"])
    size = float(match["size"]) * 1024 ** UNITS.index(match["unit"])
    rows = None if match["rows"] is None else int(float(match["rows"]))
    return Leaf(name[1].replace("`", "") if name else "", rows, int(size) if size < UNKNOWN_BYTES else None)


def expected(measured: list[Leaf], files: list[Leaf], full_sizes: Mapping[str, int | None]) -> Expected:
    """Rows and bytes that a plan reads in all.

    measured: with the rows that ANALYZE TABLE counted, always of the whole table. files: the same, with the size of the
    files that are read. full_sizes: the size of all files of a table, by its name.
    """
    if [leaf.relation for leaf in measured] != [leaf.relation for leaf in files]:
        files = measured
    sizes = [leaf.bytes for leaf in files]
    known = [size for size in sizes if size is not None]
    rows = sum(
        _share(leaf.rows or 0, size, full_sizes.get(leaf.relation))
        for leaf, size in zip(measured, sizes, strict=True)
    )
    return Expected(rows, sum(known) if files and len(known) == len(sizes) else None)


def _share(rows: int, size: int | None, full_size: int | None) -> int:
    """The rows of a part of a table, if they are as large as the others; rounded up."""
    return rows if size is None or not full_size or size >= full_size else -(-rows * size // full_size)


def relations_of(plan: str) -> set[str]:
    """The names of the tables that a query reads, as EXPLAIN EXTENDED tells them.

    By the analysed plan: the optimised one has left out a table whose condition holds for no row today.
    """
    part = plan.partition("== Analyzed Logical Plan ==\n")[2].partition("\n== ")[0]
    return {match[1].replace("`", "") for match in NAMED.finditer(part)}


def places(plan: str) -> list[str]:
    """Where the files lie that a plan scans."""
    return [place.strip() for listed in PLACES.findall(plan) for place in listed.split(",")]
