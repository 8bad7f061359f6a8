"""A dataset that can pay for releases without noise."""

from __future__ import annotations

import pytest

from dpportal.accounts.models import User
from dpportal.datasets.models import Dataset
from tests.dpportal import building


@pytest.fixture
def rich(curator: User, administrator: User) -> Dataset:
    return building.granted(building.stored_dataset(curator), administrator, "100")
