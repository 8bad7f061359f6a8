"""The rows of a release in one array of columns, so that a reader's sum reads those of its columns alone."""

from __future__ import annotations

import numpy as np

from mechanisms.microdata.cell_rows import CellRows
from mechanisms.microdata.plan import MicrodataPlan, MicrodataResult
from mechanisms.microdata.replicates import TABLES, most_rows

# Of the tables for standard errors, the one that is fitted to what was measured among them.
FURTHER = TABLES + 1


def pack(result: MicrodataResult) -> np.ndarray:
    """(columns, n) cells of the synthetic rows, then those of every table for standard errors."""
    return np.concatenate([rows.T for rows in (result.rows, *result.replicates)], axis=1)


def synthetic(plan: MicrodataPlan, stored: np.ndarray) -> np.ndarray:
    """(columns, n): the synthetic rows alone. Every further table has as many, or the most that it may have."""
    columns, length = stored.shape
    most = most_rows(columns)
    return stored[:, : max(length // (1 + FURTHER), length - FURTHER * most)] if plan.replicates else stored


def unpack(plan: MicrodataPlan, stored: np.ndarray) -> tuple[CellRows, tuple[CellRows, ...]]:
    """The synthetic rows, and the tables for standard errors."""
    rows = synthetic(plan, stored)
    further = np.split(stored[:, rows.shape[1] :], FURTHER, axis=1) if plan.replicates else []
    return np.array(rows.T, order="F"), tuple(np.array(table.T, order="F") for table in further)
