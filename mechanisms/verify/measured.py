"""Whether the measurement is the one that was committed, and integers, as the noise is."""

from __future__ import annotations

import io

import numpy as np

from mechanisms.verify.bundle import MEASUREMENT, Bundle
from mechanisms.verify.finding import Finding, State

WHAT = "measurement"


def check(bundle: Bundle) -> Finding:
    """By its digest, and by its type: a float would not have met discrete noise."""
    if MEASUREMENT not in bundle.entries:
        is_named = bool(bundle.release.get("measurement_sha256"))
        return Finding(
            WHAT,
            State.FAILED if is_named else State.NOT_CHECKED,
            "it is missing, and release.json names its digest" if is_named else "the bundle has none",
        )
    if bundle.digest(MEASUREMENT) != bundle.release.get("measurement_sha256"):
        return Finding(WHAT, State.FAILED, "it is not the one that was committed with the charge")
    try:
        values = bundle.measurement
    except ValueError:
        return Finding(WHAT, State.FAILED, "it is no array of numbers")
    if not np.issubdtype(values.dtype, np.integer):
        return Finding(WHAT, State.FAILED, f"it has {values.dtype}, and discrete noise is whole")
    if bundle.content(MEASUREMENT) != _as_written(values):
        return Finding(WHAT, State.FAILED, "it has bytes that no portal writes for its numbers")
    return Finding(WHAT, State.HOLDS, f"{values.size:,} integers, committed together with the charge")


def _as_written(values: np.ndarray) -> bytes:
    """The bytes that a portal writes: least byte first in each number, nothing behind the array."""
    written = io.BytesIO()
    np.save(written, values.astype(values.dtype.newbyteorder("<")))
    return written.getvalue()
