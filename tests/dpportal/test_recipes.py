"""The recipes of a format and a page in CONTRIBUTING are code that works: it is run here as it is written there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import clear_url_caches, path, reverse

from dpportal.accounts.models import Role
from dpportal.datasets import urls
from dpportal.datasets.models import Dataset
from tests.dpportal import building
from tests.test_contributing import ROOT, blocks, module

# What is asked of all files of the project, whatever they are about.
OF_ALL = (
    *("tests/test_rooms.py", "tests/test_names.py", "tests/dpportal/test_architecture.py"),
    "tests/dpportal/test_no_circles.py",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what git knows of the project."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def insert(file: Path, *texts: tuple[str, str]) -> None:
    """Put each text before the first place of another."""
    content = file.read_text()
    for before, text in texts:
        assert before in content
        content = content.replace(before, text + before, 1)
    file.write_text(content)


def passed(project: Path, tests: Sequence[str], words: str) -> set[str]:
    """The files of those tests that were run and that name one of the words, all of which must pass."""
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", "-k", words, *tests]
    environment = {**os.environ, "NIGHTLY": "1"}
    done = subprocess.run(run, cwd=project, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    return set(re.findall(r"^PASSED \S*/(test_\w+)\.py::", done.stdout, re.MULTILINE))


def lint(project: Path, *files: str) -> None:
    for check in (["check"], ["format", "--check"]):
        subprocess.run([sys.executable, "-m", "ruff", *check, *files], cwd=project, check=True)


@pytest.mark.slow
def test_a_format_is_one_file_one_line_and_its_tests(project: Path) -> None:
    """Whatever asks something of every format is content with it, and has asked."""
    own, its_tests = (
        "dpportal/tables/formats/arrow_stream.py",
        "tests/dpportal/tables/formats/test_arrow_stream.py",
    )
    for file, text in zip((own, its_tests), blocks("A format"), strict=True):
        (project / file).write_text(textwrap.dedent(text))
    insert(
        project / "dpportal/tables/formats/__init__.py",
        (
            "from dpportal.tables.formats.feather",
            "from dpportal.tables.formats.arrow_stream import ArrowStream\n",
        ),
        ("    Feather(),", "    ArrowStream(),\n"),
    )
    lint(project, own, its_tests)
    asked = ["tests/dpportal/tables/formats", "tests/dpportal/datasets/test_upload_pages.py"]
    names = {"test_arrow_stream", "test_all", "test_detection", "test_damaged_files", "test_upload_pages"}
    assert passed(project, asked, "arrow") >= names
    assert passed(project, OF_ALL, "test")


@pytest.mark.slow
def test_a_method_is_one_file_one_line_and_its_tests(project: Path) -> None:
    own, its_tests = "mechanisms/histogram/coarse.py", "tests/mechanisms/histogram/test_coarse.py"
    for file, text in zip((own, its_tests), blocks("A method"), strict=True):
        (project / file).write_text(textwrap.dedent(text))
    insert(
        project / "mechanisms/registry.py",
        ("from mechanisms.histogram.dawa", "from mechanisms.histogram.coarse import CoarseHistogram\n"),
        ("    DawaHistogram(", "    CoarseHistogram(),\n"),
    )
    lint(project, own, its_tests)
    asked = ["tests/mechanisms/histogram", "tests/mechanisms/test_registry.py"]
    assert passed(project, asked, "coarse or gone_through or registry") >= {"test_coarse", "test_stepwise"}
    assert passed(project, OF_ALL, "test")


@pytest.fixture
def outline(settings: Any, tmp_path: Path) -> Iterator[str]:
    """The page of the recipe is among the others; its name."""
    view, address, template = blocks("A page")
    views = module("dpportal.datasets.outline_views", view)
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "outline.html").write_text(textwrap.dedent(template))
    [engine] = settings.TEMPLATES
    settings.TEMPLATES = [{**engine, "DIRS": [*engine["DIRS"], tmp_path]}]
    urls.urlpatterns.append(eval(textwrap.dedent(address), {"path": path, "outline_views": views}))
    clear_url_caches()
    yield "datasets:outline"
    urls.urlpatterns.pop()
    clear_url_caches()


def test_the_recipe_of_a_page_works(outline: str, client: Client, dataset: Dataset) -> None:
    address = reverse(outline, args=[dataset.pk])
    assert client.get(address).status_code == 302
    client.force_login(building.person("other", Role.CURATOR))
    assert client.get(address).status_code == 404
    client.force_login(dataset.owner)
    page = client.get(address)
    assert page.status_code == 200
    assert all(f"<li>{column['name']}</li>" in page.text for column in dataset.columns)
