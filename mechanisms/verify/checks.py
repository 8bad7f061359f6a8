"""All checks of a bundle, in order."""

from __future__ import annotations

from collections.abc import Iterator

from mechanisms.verify import container, measured, planned, signature, stated, tables
from mechanisms.verify.bundle import MEASUREMENT, RELEASE, SIGNATURE, STREAM, Bundle
from mechanisms.verify.finding import Finding, State

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
    if bundle.release["product"] != STREAM:  # whose published counts are what was measured
        yield measured.check(bundle)
        if MEASUREMENT not in bundle.entries:
            return
    if found is not None:
        yield from tables.check(bundle, found)


def files(bundle: Bundle) -> Finding:
    """Whether each file is there, and is what release.json says."""
    listed = bundle.release["files"]
    for name, facts in listed.items():
        if name not in bundle.entries:
            return Finding("files", State.FAILED, f"{name} is missing")
        if bundle.digest(name) != facts.get("sha256"):
            return Finding("files", State.FAILED, f"{name} was changed")
    if more := sorted(set(bundle.entries) - set(listed) - UNLISTED):
        return Finding("files", State.FAILED, f"{more[0]} does not belong to it")
    return Finding("files", State.HOLDS, f"{len(listed)} files have the digests that release.json says")
