"""The square-root Toeplitz strategy: the same weights in every period, fading like one over the root of the age.

Source: Fichtenberger, Henzinger, Upadhyay 2023, "Constant matters: fine-grained error bound on differentially private
continual observation": with C lower triangular and c_0 = 1, c_k = c_{k-1}(2k - 1)/(2k), running sums are W = C².
"""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from mechanisms.accounting import Definition
from mechanisms.arrays import Floats, Integers
from mechanisms.continual.strategy import StreamStrategy
from mechanisms.continual.stream import LinearStream
from mechanisms.continual.triangular import Triangular
from mechanisms.json_types import JsonObject
from mechanisms.sensitivity import Sensitivity


def root_coefficients(size: int) -> Floats:
    """(size,) c_k = Π_{i<=k} (2i - 1)/(2i): the power series of 1/√(1 - x)."""
    k = np.arange(1, size)
    return np.concatenate([[1.0], np.cumprod((2 * k - 1) / (2 * k))])


class RootToeplitz(Triangular):
    """A_tk = a_{t-k}, a_k = ⌊head · c_k⌋."""

    def __init__(self, periods: int, head: int) -> None:
        self.periods = periods
        self.coefficients = np.floor(head * root_coefficients(periods)).astype(np.int64)
        self.column = Sensitivity(int(self.coefficients.sum()), int((self.coefficients**2).sum()))

    def row(self, period: int) -> Integers:
        return self.coefficients[period - 1 :: -1]

    @cached_property
    def _response(self) -> Floats:
        """(n,): b with W A^-1 lower triangular Toeplitz of b, the power series of 1/((1 - x) a(x))."""
        from scipy.signal import lfilter  # loads slowly, and nothing else needs it

        response: Floats = lfilter([1.0], self.coefficients.astype(np.float64), np.ones(self.periods))
        return response

    @cached_property
    def _energies(self) -> Floats:
        return np.cumsum(self._response**2)

    @cached_property
    def _increment_energies(self) -> Floats:
        return np.cumsum(np.diff(self._response, prepend=0.0) ** 2)

    def fourth_powers(self, periods: Integers) -> Floats:
        return np.cumsum(self._response**4)[periods - 1]


@lru_cache(maxsize=16)
def _root_toeplitz(periods: int, head: int) -> RootToeplitz:
    return RootToeplitz(periods, head)


class RootToeplitzStream(LinearStream):
    """Gaussian noise correlated by the square root of the running sums."""

    name: ClassVar[str] = "square-root-toeplitz"
    title: ClassVar[str] = "Square-root weights"
    summary: ClassVar[str] = (
        "Gaussian noise shared between periods with slowly fading weights: near the best, with the simplest formula."
    )
    definitions: ClassVar[frozenset[Definition]] = frozenset({Definition.ZCDP})
    # Opening takes time in proportion to the square of the horizon, about 0.1 s here.
    longest: ClassVar[int] = 4096

    def design(self, horizon: int | None, definition: Definition, grid: int) -> dict[str, object]:
        assert horizon is not None  # `endless` is False
        return {"head": math.floor(grid / math.sqrt(math.fsum(root_coefficients(horizon) ** 2)))}

    def build(self, horizon: int | None, definition: Definition, details: JsonObject) -> StreamStrategy:
        assert horizon is not None
        return _root_toeplitz(horizon, details["head"])
