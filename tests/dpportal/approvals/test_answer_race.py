"""Many sessions of one administrator answer one request at the same moment: one answer counts."""

from __future__ import annotations

import json

import pytest

from tests.dpportal.budgets.conftest import world  # noqa: F401 (a fixture)
from tests.dpportal.world import World

pytestmark = [pytest.mark.slow, pytest.mark.sampled]
THREADS = 12


def test_one_of_many_answers_counts(world: World) -> None:  # noqa: F811
    outcomes = json.loads(world.run("-m", "tests.dpportal.approvals.racer", str(THREADS)).splitlines()[-1])
    assert outcomes == {"answered": 1, "too late": THREADS - 1, "charges": 1}
    assert "All agrees" in world.run("manage.py", "verify")
