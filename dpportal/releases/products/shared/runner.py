"""What the job asks of a product: count, measure, reconstruct."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic

import numpy as np

from dpportal.releases.models import Release
from dpportal.releases.products.shared.values import Counted, P, R
from mechanisms.noise import Noise
from mechanisms.protocol import Measurement


class Runner(ABC, Generic[P, R]):
    """The way from people's records to a result R of a plan P."""

    @abstractmethod
    def count(self, release: Release, plan: P, key: bytes) -> Counted:
        """The true integers. Reads people's records."""

    def rows_counted(self, plan: P, compared: np.ndarray) -> int | None:
        """How many rows the true integers counted, or None where they do not tell."""
        return None

    @abstractmethod
    def measure(self, plan: P, counts: np.ndarray, noise: Noise) -> Measurement:
        """The private step. counts: `Counted.measured`."""

    @abstractmethod
    def reconstruct(self, plan: P, measurement: Measurement, stored: np.ndarray | None = None) -> R:
        """The result: post-processing, the same every time.

        stored: what `Presenter.stored_estimates` gave of the first reconstruction, if there is any; it decides where
        another machine may find the result slightly different.
        """
