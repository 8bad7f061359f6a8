"""AIM, MST and PrivBayes by dpmm, which runs in a Python of its own."""

from __future__ import annotations

import subprocess
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from mechanisms.accounting import zcdp_to_epsilon
from mechanisms.domain import Domain
from tests.benchmarks.rivals import Synthesise

DELTA = 1e-9
PROGRAM = Path(__file__).with_name("within_dpmm.py")


def synthesise_by(python: str, method: str) -> Synthesise:
    """python: one that has dpmm. method: AIM, MST or PrivBayes."""

    def synthesise(domain: Domain, rows: np.ndarray, rho: Fraction) -> np.ndarray:
        epsilon = zcdp_to_epsilon(float(rho), DELTA)
        with TemporaryDirectory() as folder:
            given, made = Path(folder) / "given.npz", Path(folder) / "made.npy"
            np.savez(given, rows=rows, shape=np.array(domain.shape))
            command = [python, str(PROGRAM), method, str(epsilon), str(DELTA), str(given), str(made)]
            subprocess.run(command, check=True)
            return np.asarray(np.load(made))

    return synthesise
