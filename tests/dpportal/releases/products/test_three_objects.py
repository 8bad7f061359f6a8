"""A product is a planner, a runner and a presenter, none of them large, and knows no other product."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dpportal.releases.products import PRODUCTS
from dpportal.releases.products.shared.planner import Planner
from dpportal.releases.products.shared.presenter import Presenter
from dpportal.releases.products.shared.runner import Runner

PACKAGE = "dpportal.releases.products"
FOLDER = Path(__file__).resolve().parents[4] / "dpportal" / "releases" / "products"
MOST_MEMBERS = 20


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("base", [Planner, Runner, Presenter])
def test_each_object_is_small(base: type) -> None:
    members = {name for name in (*vars(base), *base.__annotations__) if not name.startswith("_")}
    assert len(members) <= MOST_MEMBERS


@pytest.mark.parametrize("name", [*PRODUCTS, "shared"])
def test_no_product_knows_another(name: str) -> None:
    others = tuple(f"{PACKAGE}.{other}" for other in PRODUCTS if other != name)
    known = {i for path in (FOLDER / name).rglob("*.py") for i in imported(path)}
    assert not [i for i in known if i.startswith(others)]
