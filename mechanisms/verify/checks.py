"""All checks of a bundle, in order."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from mechanisms.verify import (
    arrays,
    container,
    documents,
    extremes,
    fields,
    formats,
    markup,
    measured,
    notebooks,
    planned,
    signature,
    stated,
    tables,
    wording,
)
from mechanisms.verify.bundle import MEASUREMENT, RELEASE, SIGNATURE, STREAM, Bundle
from mechanisms.verify.finding import Finding, State

# The tables of each product, by the names of their files without ending, and what else it has.
TABLES: dict[str, tuple[str, ...]] = {
    "histogram": ("histogram", "synthetic", "codebook"),
    "means": ("totals", "in_all", "codebook"),
    "summary": ("summary", "totals", "density", "codebook", "table1", "table1.html", "table1.tex"),
    "selection": ("choice",),
    "response": ("answers", "estimates", "codebook"),
    "microdata": ("synthetic", "replicates", "columns", "pairs", "measured", "groups", "codebook"),
    "queries": ("answers", "cells", "synthetic", "codebook", "strategy.npz", "matrix-*.npz"),
    STREAM: ("series",),
}
# Running counts up to which each has a drawing of its own.
MOST_DRAWINGS = 20
FORMATS = {"csv", "xlsx", "parquet", "sdmx.csv", "sdmx.json"}
EVERYWHERE = {
    *(RELEASE, SIGNATURE, MEASUREMENT, "datapackage.json", "croissant.json"),
    *("README.md", "report.html", "report.zh-hans.html", "notebook.py", "notebook.ipynb"),
}
# Those that no portal of this version leaves out.
ALWAYS = EVERYWHERE - {RELEASE, SIGNATURE, MEASUREMENT}
# How the names of all files end that any version writes, but for notebooks, which are called so in all of them.
ENDINGS = {"csv", "xlsx", "parquet", "json", "npy", "npz", "html", "svg", "md", "tex"}
# Files that release.json does not list: itself, and what signs it.
UNLISTED = {RELEASE, SIGNATURE}


def verify(bundle: Bundle, *keys: str) -> Iterator[Finding]:
    """keys: the portal's public ones, in hexadecimal digits, where whoever asks has them. Raises BundleError."""
    zipped = container.check(bundle.path)
    yield zipped
    if zipped.state is State.FAILED:  # another program may read other files in it
        return
    yield from files(bundle)
    yield signature.check(bundle, *keys)
    plan = planned.read(bundle)
    yield from planned.check(bundle, plan)
    yield stated.check(bundle)
    yield from _guarded(fields.WHAT, fields.check(bundle, plan))
    is_stream = bundle.release["product"] == STREAM  # whose published counts are what was measured
    if not is_stream:
        yield measured.check(bundle)
    if plan is not None and (is_stream or MEASUREMENT in bundle.entries):
        compared = list(tables.check(bundle, plan))
        yield from compared
        yield from _uncompared(bundle, {finding.what for finding in compared})
        yield from _guarded("arrays", arrays.check(bundle, plan))
        yield from _guarded(extremes.WHAT, extremes.check(bundle, plan))
    yield from _guarded("formats", formats.check(bundle))
    yield from documents.check(bundle)
    yield from notebooks.check(bundle)
    yield from _guarded(markup.WHAT, markup.check(bundle))
    yield from _guarded("texts", wording.check(bundle))


def _uncompared(bundle: Bundle, compared: set[str]) -> Iterator[Finding]:
    """A line for each table of numbers that nothing was compared with, since this plan makes none of its name.

    What is printed of a summary is compared with its tables, as texts are.
    """
    if bundle.release["product"] == "summary":
        compared = {*compared, wording.PRINTED_FILE}
    for name in bundle.entries:
        is_table = name.endswith(".csv") and not name.endswith(".sdmx.csv")
        if is_table and name not in compared:
            reason = "such a plan makes no such table"
            yield Finding.by_version(name, reason, is_sure=bundle.is_of_this_version)


def _guarded(what: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Whoever altered a file may have written anything into it."""
    try:
        yield from findings
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as fault:
        yield Finding(what, State.FAILED, f"no portal writes it so ({type(fault).__name__})")


def files(bundle: Bundle) -> Iterator[Finding]:
    """Whether each file is there, and is what release.json says; and a line for what another version may have."""
    listed = bundle.release["files"]
    strange, needed = _strange(bundle), ALWAYS | _drawings(bundle)
    fault = _fault_of_listed(bundle) or _fault_of_kind(strange)
    yield Finding.of("files", fault, f"{len(listed)} files have the digests that release.json says")
    if fault:
        return
    if missing := sorted(needed - set(listed)):
        yield Finding.by_version("files", f"{missing[0]} is missing", is_sure=bundle.is_of_this_version)
    if strange:
        reason = f"no portal of this version puts {strange[0][:80]} into it"
        yield Finding.by_version("files", reason, is_sure=bundle.is_of_this_version)


def _fault_of_listed(bundle: Bundle) -> str:
    listed = bundle.release["files"]
    for name, facts in listed.items():
        if name not in bundle.entries:
            return f"{name} is missing"
        if bundle.digest(name) != facts.get("sha256"):
            return f"{name} was changed"
    more = sorted(set(bundle.entries) - set(listed) - UNLISTED)
    return f"{more[0]} does not belong to it" if more else ""


def _fault_of_kind(names: list[str]) -> str:
    """Whichever version wrote it, a bundle has tables, pages, drawings and descriptions, and nothing else that runs."""
    foreign = [name for name in names if name.rpartition(".")[2] not in ENDINGS]
    return f"no portal puts {foreign[0][:80]} into it" if foreign else ""


def _strange(bundle: Bundle) -> list[str]:
    """The files that are none of those that releases of its product have."""
    product = bundle.release["product"]
    tables, others = TABLES.get(product, ()), EVERYWHERE | _drawings(bundle)
    if product == STREAM:  # whose published counts are all that leaves the portal
        others -= {MEASUREMENT}
    return [name for name in bundle.entries if name not in others and not _is_one_of(tables, name)]


def _drawings(bundle: Bundle) -> set[str]:
    """Those of the first running counts that the plan has; none of other products."""
    if bundle.release["product"] != STREAM:
        return set()
    request = bundle.release["plan"].get("request")
    width = request.get("series") if isinstance(request, dict) else None
    if width == 1 or not isinstance(width, int):
        return {"chart.svg"}
    return {f"chart-{place:02d}.svg" for place in range(1, min(width, MOST_DRAWINGS) + 1)}


def _is_one_of(tables: tuple[str, ...], name: str) -> bool:
    stem, _dot, ending = name.partition(".")
    is_table = stem in tables and ending in FORMATS
    return is_table or any(fnmatchcase(name, pattern) for pattern in tables if "." in pattern)
