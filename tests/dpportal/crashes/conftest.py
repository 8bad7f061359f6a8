"""The two kinds of portal on which every crash is tried."""

import pytest

from tests.dpportal.crashes.stage import Stage
from tests.dpportal.world import embedded, with_servers


@pytest.fixture(
    scope="package",
    params=[
        "embedded",
        pytest.param("servers", marks=[pytest.mark.postgres, pytest.mark.redis]),
    ],
    ids=["SQLite and filesystem", "PostgreSQL and Redis"],
)
def stage(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("crashes")
    if request.param == "embedded":
        portal = embedded(folder)
    else:
        urls = (request.getfixturevalue(name) for name in ("postgres_url", "redis_url"))
        portal = with_servers(folder, *urls)
    with portal as world:
        yield Stage(world)
