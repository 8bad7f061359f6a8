"""What the numbers of an array are, for signatures: integers meet noise, floats come of it.

A bare `np.ndarray` in a signature takes either, as workloads do: integers stay integers there.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
