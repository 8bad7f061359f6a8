"""Whether a notebook is one that portals write: it is a program, which its reader will run.

A notebook has no text of a release, so that a version writes the same for every release of a product.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from mechanisms.tabular.notebook import jupyter
from mechanisms.verify.bundle import STREAM, Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.json_values import as_written

SCRIPT, JUPYTER = "notebook.py", "notebook.ipynb"
# The SHA-256 of notebook.py by product; of every version that was released, and of this one.
KNOWN = {
    "histogram": {"a8383193f31d9ca09b4f572ffb9cf0489f724c87e0dc6821e8010fab834d3da4"},
    "means": {"e2810ec24c79e772954aa52d1242418fab861bbdfd18e02a6d1585bd225c3c3a"},
    "microdata": {"a424fe0c5d966e22ea4d31f3154b33c08a02652b673da537f98a9e465da0f4ce"},
    "queries": {"def3d5272f7fd96cdcfe54f18ed0602f7be09262704e840195d6aaee079784d5"},
    "response": {"5ec248a8f9bb90827cd7ec2b5fe94161d6abb497e0f90d0e11464535d54ad8e9"},
    "selection": {"a20c8030c5044afdb25067eb665193dee904a4f00efb33bc6524a8d644b56c74"},
    "summary": {"726f404378fa1b5047c056360fccc4f254e86f08a5b6f6a4ff6e5f1d7fed6492"},
    STREAM: {"c351e4acc5f8718600594d96721dee654cb05ab7e3a56f732cfe8ea69da8538d"},
}


def check(bundle: Bundle) -> Iterator[Finding]:
    """Both, where there are any: bundles of earlier versions have none."""
    if SCRIPT in bundle.entries:
        content = bundle.content(SCRIPT)
        if sha256(content).hexdigest() in KNOWN.get(bundle.release["product"], ()):
            yield Finding(SCRIPT, State.HOLDS, "it is the portal's own for this product")
        elif bundle.is_of_this_version:
            yield Finding(SCRIPT, State.FAILED, "it is not the portal's own: do not run it")
        else:
            yield Finding(SCRIPT, State.NOT_CHECKED, "made by another version: read it before you run it")
    if JUPYTER in bundle.entries:
        own = as_written(jupyter(bundle.content(SCRIPT).decode())) if SCRIPT in bundle.entries else b""
        fault = "" if bundle.content(JUPYTER) == own else "it is not the same as notebook.py: do not run it"
        yield Finding.of(JUPYTER, fault, f"it is the same as {SCRIPT}")
