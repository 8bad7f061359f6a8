"""How much memory there is, also where processes are confined."""

from __future__ import annotations

from pathlib import Path

from dpportal.jobs import memory_limits

GROUP = {"memory.current": "700\n", "memory.stat": "anon 5\ninactive_file 100\nfile 9\n"}


def _group(folder: Path, limit: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {**GROUP, "memory.max": limit}.items():
        (folder / name).write_text(text)


class TestMachine:
    def test_what_is_free_is_part_of_what_there_is(self) -> None:
        assert 0 < memory_limits.own_memory() < memory_limits.memory()
        assert 0 < memory_limits.free_memory() < memory_limits.memory()

    def test_every_group_above_may_have_a_limit(self, tmp_path: Path) -> None:
        """What it used less the copies of files that nobody needs: 600 bytes."""
        _group(tmp_path, "5000\n")
        _group(tmp_path / "jobs", "max\n")
        _group(tmp_path / "jobs" / "worker", "900\n")
        assert list(memory_limits._limits(tmp_path, "jobs/worker")) == [(900, 600), (5000, 600)]

    def test_without_groups_there_are_no_limits(self, tmp_path: Path) -> None:
        assert list(memory_limits._limits(tmp_path, "jobs")) == []
