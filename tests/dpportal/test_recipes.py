"""The recipes of a format and a page in CONTRIBUTING are code that works: it is run here as it is written there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
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

FORMATS = Path("dpportal/tables/formats")
# What is asked of every format, and of all files of the project.
OF_FORMATS = (
    *("tests/dpportal/tables/formats", "tests/dpportal/datasets/test_upload_pages.py", "tests/test_rooms.py"),
    *("tests/dpportal/test_architecture.py", "tests/dpportal/test_no_circles.py", "tests/test_names.py"),
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of what git knows of the project, with the format of the recipe: a file, a line and a file of tests."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if (ROOT / name).is_file():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    code, its_tests = blocks("A format")
    (tmp_path / FORMATS / "arrow_stream.py").write_text(textwrap.dedent(code))
    (tmp_path / "tests" / FORMATS / "test_arrow_stream.py").write_text(textwrap.dedent(its_tests))
    registry = tmp_path / FORMATS / "__init__.py"
    lines = registry.read_text().replace("\n    Feather(),\n", "\n    ArrowStream(),\n    Feather(),\n")
    imported = (
        "from dpportal.tables.formats.arrow_stream import ArrowStream\nfrom dpportal.tables.formats.feather"
    )
    registry.write_text(lines.replace("from dpportal.tables.formats.feather", imported, 1))
    return tmp_path


@pytest.mark.slow
def test_a_format_is_one_file_one_line_and_its_tests(project: Path) -> None:
    """Whatever asks something of every format is content with it, and has asked."""
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *OF_FORMATS, "-rA"]
    done = subprocess.run(
        [*run, "-k", "arrow or folder or rule or names or imports"],
        cwd=project, env={**os.environ, "NIGHTLY": "1"}, capture_output=True, text=True,
    )  # fmt: skip
    passed = re.findall(r"^PASSED .*/(test_\w+)\.py::.*arrow", done.stdout, re.MULTILINE)
    assert done.returncode == 0, done.stdout[-4000:]
    assert set(passed) >= {"test_arrow_stream", "test_all", "test_detection", "test_damaged_files"}
    assert "test_upload_pages" in passed
    for check in (["check"], ["format", "--check"]):
        named = [str(path) for path in project.rglob("*arrow_stream.py")]
        subprocess.run([sys.executable, "-m", "ruff", *check, *named], cwd=project, check=True)


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
