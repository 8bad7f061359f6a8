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
    "histogram": {"6286aa9851f5d6fb47cc5f8762caa99a477f611723590e93803dfb3d7d48d1b4"},
    "means": {"c51f8bb7673659a2e0fb7cdc3403a5a3816184acc63cfdaf2273bbd626c60af1"},
    "microdata": {"280913086338e20686da56afcedb88eeaa682238372eb6f5045c4116aa57814c"},
    "queries": {"21cd36b57c86bacd632191b69b957b6b61965613a38506ad443b2665684188d2"},
    "response": {"5a5bd8fb3b3fa537db07b473e6daa3c760d04f925fd9533ba8694d52be6bb2bd"},
    "selection": {"0457769f9f03646290a9393a2e3a375ed6a4269508a4d18f45e228c75e74f53b"},
    "summary": {"e13c5f65590bc422f15c205fb186fc07773a2a513ea4c84f4c4a5a0556c969a7"},
    STREAM: {"8c42991a0bad1183b086be45de23c22f9e1fd86a0b4d3873b6b21ad14fb3db35"},
}


def check(bundle: Bundle) -> Iterator[Finding]:
    """Both, where there are any: bundles of earlier versions have none."""
    if SCRIPT in bundle.entries:
        content = bundle.content(SCRIPT)
        if sha256(content).hexdigest() in KNOWN.get(bundle.release["product"], ()):
            yield Finding(SCRIPT, State.HOLDS, "it is the portal's own for this product")
        else:
            reason = "it is not the portal's own: do not run it"
            yield Finding.by_version(SCRIPT, reason, is_sure=bundle.is_of_this_version)
    if JUPYTER in bundle.entries:
        own = as_written(jupyter(bundle.content(SCRIPT).decode())) if SCRIPT in bundle.entries else b""
        fault = "" if bundle.content(JUPYTER) == own else "it is not the same as notebook.py: do not run it"
        yield Finding.of(JUPYTER, fault, f"it is the same as {SCRIPT}")
