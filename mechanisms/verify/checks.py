"""All checks of a bundle, in order."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from mechanisms.verify import (
    arrays,
    container,
    documents,
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
    STREAM: ("series", "chart.svg", "chart-*.svg"),
}
FORMATS = {"csv", "xlsx", "parquet", "sdmx.csv", "sdmx.json"}
EVERYWHERE = {
    *(RELEASE, SIGNATURE, MEASUREMENT, "datapackage.json", "croissant.json"),
    *("README.md", "report.html", "report.zh-hans.html", "notebook.py", "notebook.ipynb"),
}
# Those that no portal of this version leaves out.
ALWAYS = EVERYWHERE - {RELEASE, SIGNATURE, MEASUREMENT}
# Files that release.json does not list: itself, and what signs it.
UNLISTED = {RELEASE, SIGNATURE}


def verify(bundle: Bundle, *keys: str) -> Iterator[Finding]:
    """keys: the portal's public ones, in hexadecimal digits, where whoever asks has them. Raises BundleError."""
    zipped = container.check(bundle.path)
    yield zipped
    if zipped.state is State.FAILED:  # another program may read other files in it
        return
    yield files(bundle)
    yield signature.check(bundle, *keys)
    found = planned.read(bundle)
    yield planned.check(bundle, found)
    yield stated.check(bundle)
    yield from _guarded(fields.WHAT, fields.check(bundle, found))
    is_stream = bundle.release["product"] == STREAM  # whose published counts are what was measured
    if not is_stream:
        yield measured.check(bundle)
    if found is not None and (is_stream or MEASUREMENT in bundle.entries):
        yield from tables.check(bundle, found)
        yield from _guarded("arrays", arrays.check(bundle, found))
    yield from _guarded("formats", formats.check(bundle))
    yield from documents.check(bundle)
    yield from notebooks.check(bundle)
    yield from _guarded(markup.WHAT, markup.check(bundle))
    yield from _guarded("texts", wording.check(bundle))


def _guarded(what: str, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Whoever altered a file may have written anything into it."""
    try:
        yield from findings
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as fault:
        yield Finding(what, State.FAILED, f"no portal writes it so ({type(fault).__name__})")


def files(bundle: Bundle) -> Finding:
    """Whether each file is there, and is what release.json says."""
    listed = bundle.release["files"]
    for name, facts in listed.items():
        if name not in bundle.entries:
            return Finding("files", State.FAILED, f"{name} is missing")
        if bundle.digest(name) != facts.get("sha256"):
            return Finding("files", State.FAILED, f"{name} was changed")
    if bundle.is_of_this_version and (missing := sorted(ALWAYS - set(listed))):
        return Finding("files", State.FAILED, f"{missing[0]} is missing")
    if more := sorted(set(bundle.entries) - set(listed) - UNLISTED):
        return Finding("files", State.FAILED, f"{more[0]} does not belong to it")
    if strange := _strange(bundle):
        return Finding("files", State.FAILED, f"no portal puts {strange[:80]} into it")
    return Finding("files", State.HOLDS, f"{len(listed)} files have the digests that release.json says")


def _strange(bundle: Bundle) -> str:
    """The first file that is none of those that releases of its product have; empty if there is none."""
    tables = TABLES.get(bundle.release["product"])
    if tables is None or not bundle.is_of_this_version:
        return ""
    for name in bundle.entries:
        stem, _dot, ending = name.partition(".")
        in_formats = stem in tables and ending in FORMATS
        further = any(fnmatchcase(name, pattern) for pattern in tables if "." in pattern)
        if not in_formats and not further and name not in EVERYWHERE:
            return name
    return ""
