"""The recipes of a format and a page in CONTRIBUTING are code that works: it is run here as it is written there."""

from __future__ import annotations

import io
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.test import Client
from django.urls import clear_url_caches, path, reverse

from dpportal.accounts.models import Role
from dpportal.datasets import urls
from dpportal.datasets.models import Dataset
from dpportal.tables import UploadFault, formats
from dpportal.tables.formats import detection
from tests.dpportal import building
from tests.dpportal.tables.formats import test_feather
from tests.dpportal.tables.formats.test_feather import TABLE
from tests.test_contributing import blocks, module


@pytest.fixture
def arrow_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """The format of the recipe is among the others."""
    for name, text in zip(("arrow_stream", "stream_table"), blocks("A format"), strict=True):
        written = module(f"dpportal.tables.formats.{name}", text)
        monkeypatch.setitem(sys.modules, written.__name__, written)
    known = (*formats.FORMATS, sys.modules["dpportal.tables.formats.arrow_stream"].ArrowStream())
    for registry in (formats, detection):
        monkeypatch.setattr(registry, "FORMATS", known)


def stream(table: pa.Table) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return file.getvalue()


def test_the_recipe_of_a_format_works(arrow_stream: None, tmp_path: Path) -> None:
    """The same table is the same dataset, whatever the file is called."""
    feather, rows = test_feather.read(tmp_path, test_feather.written(TABLE), "t.feather")
    for name in ("t.arrows", "t"):
        facts, same = test_feather.read(tmp_path, stream(TABLE), name)
        assert (facts.format, same) == ("arrow-stream", rows)
        assert (facts.content_digest, facts.sketch) == (feather.content_digest, feather.sketch)


def test_a_stream_of_the_recipe_is_refused_wherever_it_is_cut(arrow_stream: None, tmp_path: Path) -> None:
    content, first = stream(TABLE), stream(TABLE[:2])
    between = len(first) - 8  # behind the first of two batches
    assert content[:between] == first[:-8]
    for place in (between, len(content) - 8, *range(100, len(content), len(content) // 9)):
        with pytest.raises(UploadFault) as refusal:
            test_feather.read(tmp_path, content[:place], "t.arrows")
        assert refusal.value.code == "damaged", place


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
