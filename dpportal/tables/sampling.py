"""Some rows of a stored table as cells of a declared domain: for pages that the curator alone sees."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.counted_rows import counted_rows
from dpportal.tables.meaning.parse_options import ReadOptions
from mechanisms.domain import Domain
from mechanisms.noise import repeatable


def sample_cells(
    path: FilePath, domain: Domain, options: ReadOptions | None = None, *, rows: int, most: int
) -> np.ndarray:
    """(n, columns) int64 cells of at most `most` of the table's `rows` rows, in random order, the same every time.

    They are drawn without replacement among the rows that no column leaves out; n is less where some are left out.
    """
    random = repeatable(sha256(b"some rows").digest())
    chosen = np.sort(random.choice(rows, min(rows, most), replace=False))
    sampled, passed = [np.empty((0, len(domain.shape)), dtype=np.int64)], 0
    for batch in counted_rows(path, domain.attributes, options):
        first, last = np.searchsorted(chosen, [passed, passed + batch.rows])
        sampled.append(batch.columns()[:, chosen[first:last] - passed].T)
        passed += batch.rows
    cells = np.concatenate(sampled)
    return cells[random.permutation(len(cells))]
