"""Queries that a curator uploaded, as a bundle has them beside their answers."""

from __future__ import annotations

import io

import numpy as np
import scipy.sparse

from mechanisms.matrix.workload.factor import Explicit
from mechanisms.verify.bundle import Bundle

UPLOADED, ENDING = "matrix-", ".npz"


def uploaded(bundle: Bundle) -> dict[str, Explicit]:
    """Uploaded queries by the digest that names them. Raises ValueError for other arrays than these."""
    contents = {}
    for name in bundle.entries:
        if name.startswith(UPLOADED) and name.endswith(ENDING):
            parts = loaded(bundle.content(name))
            shape = tuple(int(each) for each in parts["shape"])
            rows = scipy.sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
            digest = name.removeprefix(UPLOADED).removesuffix(ENDING)
            contents[digest] = Explicit(rows, tuple(map(str, parts["names"])))
    return contents


def loaded(content: bytes) -> dict[str, np.ndarray]:
    """Arrays by name. Raises ValueError if they are not plain ones."""
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
