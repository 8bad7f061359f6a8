"""Imports run one way, each dangerous thing has one place, and no file grows beyond reading.

That the rules see what breaks them: `test_planted.py`.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.dpportal.code_rules import ROOT, RULES, Rule, project

LONGEST_FILE = 400


def test_imports_keep_the_contracts() -> None:
    """Layers and independence of rooms, layers in them, and who may import what: see pyproject.toml."""
    lint = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    done = subprocess.run([*lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_project_keeps_the_rule(rule: Rule) -> None:
    broken = {source.name: found for source in project() if (found := list(rule(source)))}
    assert broken == {}


def test_the_whole_project_is_looked_at() -> None:
    names = {source.name for source in project()}
    assert {"dpportal.releases.execution", "mechanisms.noise.sampler", "dpportal.tables"} <= names


@pytest.mark.parametrize("folder", ["dpportal", "mechanisms", "tests"])
def test_no_file_is_longer_than_a_reader_bears(folder: str) -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text().splitlines())
        for path in (ROOT / folder).rglob("*.py")
        if "migrations" not in path.parts
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_FILE} == {}
