"""Long arrays in runs, and what of a mapped file stays in memory."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from mechanisms import arrays
from mechanisms.arrays import let_go, runs, runs_of, summed

MAPPED_MB = 64


def _mapped_in_memory_mb() -> float:
    """Of files, in this process's resident memory."""
    found = re.search(r"RssFile:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def test_runs_are_all_places_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "RUN", 4)
    assert [list(range(10))[run] for run in runs(10)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    pairs = list(runs_of(np.arange(5), np.arange(5) * 2))
    assert [[r.tolist() for r in pair] for pair in pairs] == [[[0, 1, 2, 3], [0, 2, 4, 6]], [[4], [8]]]
    assert summed(np.arange(10)) == 45


def test_what_was_let_go_of_is_read_again(tmp_path: Path) -> None:
    values = np.arange(MAPPED_MB * 2**17)
    np.save(tmp_path / "values.npy", values)
    mapped = np.asarray(np.load(tmp_path / "values.npy", mmap_mode="r"))
    before = _mapped_in_memory_mb()
    assert mapped.sum() == values.sum()
    assert _mapped_in_memory_mb() > before + MAPPED_MB * 0.9
    let_go(mapped.reshape(2, -1))
    assert _mapped_in_memory_mb() < before + MAPPED_MB * 0.1
    assert np.array_equal(mapped, values)


@pytest.mark.parametrize("mode", [None, "c", "r+"])
def test_what_can_be_written_is_never_let_go_of(tmp_path: Path, mode: str | None) -> None:
    np.save(tmp_path / "values.npy", np.zeros(5))
    values = np.load(tmp_path / "values.npy", mmap_mode=mode)
    values[3] = 7
    let_go(values, values[2:])
    assert values.tolist() == [0, 0, 0, 7, 0]
