"""What `pip install .` gives, and that all places name the same version."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import mechanisms

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["tool"]["setuptools"]["dynamic"]["optional-dependencies"]
README = (ROOT / "mechanisms" / "README.md").read_text()
EXAMPLE = re.search(r"```python\n(.*?)```", README, re.DOTALL)


def test_all_places_name_the_same_version() -> None:
    version = re.escape(mechanisms.__version__)
    assert re.search(rf"^## {version}\b", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert re.search(rf"^version: {version}$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)


def test_the_package_and_the_portal_ask_for_the_same_of_what_they_share() -> None:
    wanted = (ROOT / "requirements.txt").read_text().splitlines()
    assert set(PROJECT["project"]["dependencies"]) <= set(wanted)


def test_every_extra_names_a_file_that_is_there() -> None:
    assert {"portal", "spark", "clickhouse", "s3", "gan", "client"} <= set(EXTRAS)
    assert all((ROOT / name).is_file() for extra in EXTRAS.values() for name in extra["file"])


@pytest.mark.slow
def test_an_empty_environment_runs_the_first_example_after_one_line(tmp_path: Path) -> None:
    source, environment = tmp_path / "project", tmp_path / "environment"
    for package in ("mechanisms", "dpportal/api/dpclient"):
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "LICENSE", *(name for extra in EXTRAS.values() for name in extra["file"])):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-compile", source], check=True)
    assert EXAMPLE is not None
    done = subprocess.run(
        [python, "-I", "-c", EXAMPLE[1]], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert re.fullmatch(r"\[ *-?\d+ +-?\d+ +-?\d+\] ± 6\n", done.stdout), done.stdout
    # The portal is not in it, and what it ships beside its code is.
    inside = (
        "import importlib.util as u, importlib.resources as r, mechanisms.advice.table; "
        "print(u.find_spec('dpportal'), bool(u.find_spec('dpclient')), "
        "r.files('mechanisms').joinpath('py.typed').is_file())"
    )
    done = subprocess.run(
        [python, "-I", "-c", inside], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert done.stdout == "None True True\n"
    verifier = environment / "bin" / "dp-verify"
    said = subprocess.run([verifier, "--help"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "receipt of erasure" in said.stdout


def test_types_and_the_verifier_s_command_are_shipped() -> None:
    assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"]["mechanisms"]
    assert (ROOT / "mechanisms" / "py.typed").is_file()
    module, _, function = PROJECT["project"]["scripts"]["dp-verify"].partition(":")
    assert callable(getattr(import_module(module), function))


def test_the_first_page_of_the_mechanisms_is_soon_read() -> None:
    assert len(README.split()) <= 1500
