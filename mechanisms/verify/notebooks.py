"""Whether a notebook is one that portals write: it is a program, which its reader will run.

A notebook has no text of a release, so that a version writes the same for every release of a product.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from mechanisms.tabular.notebook import jupyter
from mechanisms.verify.bundle import STREAM, Bundle
from mechanisms.verify.finding import Finding, State
from mechanisms.verify.observations import as_written

SCRIPT, JUPYTER = "notebook.py", "notebook.ipynb"
# The SHA-256 of notebook.py by product; of every version that was released, and of this one.
KNOWN = {
    "histogram": {"4180e13c9131824f40b21c93433e5f69f930b0501d494052fa7814445ea5071b"},
    "means": {"a3ae913fbd41b6e8d8b6346c1525c0c514f1908e95e7328322f494b725a1ba45"},
    "microdata": {"99f7f5e6c9482e02592aad82c156f1686f5864c89ba85d8873cf68cb77444ba9"},
    "queries": {"e77700329d0e4e00abf1b6a6b0675f7ac883c2f5defe8fa564d7c34d8d0c6604"},
    "response": {"1b53384c9c2ac20a6916b87d73b0f7819e7423d6037994583fce463aa3e8e4b9"},
    "selection": {"ad321616350bde1a57f627ebc8776f19844205c8c3e766519a2866fcd21a840f"},
    "summary": {"d443a432ab8c40fc75756a1e36da7cdbf88f66507ad483afb7accd2b53cf3650"},
    STREAM: {"a6c54900e199021952f27334f5680677646327fbed804f82d1e4597e5772486a"},
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
