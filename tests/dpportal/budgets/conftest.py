"""The two databases on which the ledger is raced for and written past."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dpportal.world import World, embedded, with_servers


@pytest.fixture(
    scope="package",
    params=["embedded", pytest.param("servers", marks=[pytest.mark.postgres, pytest.mark.redis])],
    ids=["SQLite and filesystem", "PostgreSQL and Redis"],
)
def world(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("budgets")
    if request.param == "embedded":
        portal = embedded(folder)
    else:
        portal = with_servers(
            folder, *(request.getfixturevalue(name) for name in ("postgres_url", "redis_url"))
        )
    with portal as running:
        yield running
