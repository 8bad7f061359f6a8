"""What a histogram of millions of cells takes while it is made, in a process of its own."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from dpportal.tables import convert
from tests.benchmarks import cells

CELLS, ROWS = 4_000_000, 10_000
# Two numbers a cell, and 100 MB for runs of cells that are worked on and for libraries that are loaded on the way.
MOST_MB = 16 * CELLS / 2**20 + 100


@pytest.mark.slow
class TestMemory:
    def test_no_step_holds_more_than_two_numbers_a_cell(self, tmp_path: Path) -> None:
        domain, csv, table = cells.domain_of(CELLS), tmp_path / "table.csv", tmp_path / "table.parquet"
        cells.write_table(csv, domain, ROWS)
        convert(csv, table, csv.name)
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            work = pool.submit(cells.attempted, "laplace-histogram", domain, table, str(tmp_path))
            start, *steps = work.result()
        more = {step.name: round(step.peak - start.peak) for step in steps}
        assert {name: peak for name, peak in more.items() if peak > MOST_MB} == {}
