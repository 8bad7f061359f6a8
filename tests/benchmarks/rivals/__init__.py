"""Published ways to synthetic rows that the portal does not offer, run beside its own methods in the benchmark."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from mechanisms.domain import Domain

Synthesise = Callable[[Domain, np.ndarray, Fraction], np.ndarray]

# Where the Python is that has dpmm: it needs older packages than the portal has.
DPMM_PYTHON = "DPMM_PYTHON"
DPMM = {"dpmm-aim": "AIM", "dpmm-mst": "MST", "dpmm-privbayes": "PrivBayes"}

# With what each is run: smaller than its authors do, whose settings take hours.
SETTINGS = {
    "aim": "mbi, a round for each column, a model of 1 MiB, 100 steps of fitting",
    "mst": "mbi, 1,000 steps of fitting",
    "dpmm-aim": "a model of 1 MiB, 100 steps of fitting",
    "dpmm-mst": "1,000 steps of fitting",
    "dpmm-privbayes": "1,000 steps of fitting",
}


def ready(name: str) -> bool:
    """Whether a rival's packages are installed."""
    return DPMM_PYTHON in os.environ if name in DPMM else find_spec("mbi") is not None


def how_to_add(name: str) -> str:
    if name in DPMM:
        return f"{name} is left out: set {DPMM_PYTHON} to a Python with tests/benchmarks/rivals/requirements-dpmm.txt."
    return f"{name} is left out: pip install -r tests/benchmarks/rivals/requirements-mbi.txt adds it."


def rival(name: str) -> Synthesise:
    """From a domain, (n, d) cells and ρ to synthetic (m, d) cells. Raises ImportError where it is not `ready`."""
    if name in DPMM:
        by: Callable[[str, str], Synthesise] = import_module(f"{__name__}.by_dpmm").synthesise_by
        return by(os.environ[DPMM_PYTHON], DPMM[name])
    synthesise: Synthesise = import_module(f"{__name__}.{name}").synthesise
    return synthesise
