"""Some rows of a stored table as cells of a declared domain: for pages that the curator alone sees."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from dpportal.platform.sealed_files import FilePath
from dpportal.tables.counting import cells_in_batches, counted_rows
from dpportal.tables.engines.duckdb.session import stored_table
from dpportal.tables.meaning.parse_options import ReadOptions
from dpportal.tables.sources import RowSource, every_cell
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
    with stored_table(path) as connection:
        source = RowSource(
            connection, path, (options or ReadOptions()).settled(), domain.attributes, in_order=True
        )
        with counted_rows(source, every_cell(domain), None, None) as parts:
            for columns in cells_in_batches(connection, parts, len(domain.shape)):
                first, last = np.searchsorted(chosen, [passed, passed + columns.shape[1]])
                sampled.append(columns[:, chosen[first:last] - passed].T)
                passed += columns.shape[1]
    cells = np.concatenate(sampled)
    return cells[random.permutation(len(cells))]
