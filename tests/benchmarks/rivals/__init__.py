"""Published ways to synthetic rows that the portal does not offer, run beside its own methods in the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec

import numpy as np

from mechanisms.domain import Domain

# What each needs beyond the plain install; its packages are in requirements-NAME.txt of this folder.
NEEDS = {"aim": ("mbi",)}

# With what each is run: smaller than its authors do, whose settings take hours.
SETTINGS = {"aim": "a round for each column, a model of 1 MiB, 100 steps of fitting"}


def ready(name: str) -> bool:
    """Whether a rival's packages are installed."""
    return all(find_spec(package) for package in NEEDS[name])


def how_to_add(name: str) -> str:
    return f"{name} is left out: pip install -r tests/benchmarks/rivals/requirements-{name}.txt adds it."


def rival(name: str) -> Callable[[Domain, np.ndarray, Fraction], np.ndarray]:
    """From a domain, (n, d) cells and ρ to synthetic (m, d) cells. Raises ImportError where it is not `ready`."""
    synthesise: Callable[[Domain, np.ndarray, Fraction], np.ndarray] = import_module(
        f"{__name__}.{name}"
    ).synthesise
    return synthesise
