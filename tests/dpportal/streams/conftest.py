"""An open stream."""

import pytest

from dpportal.streams.models import Stream
from tests.dpportal.streams import building


@pytest.fixture
def stream(dataset) -> Stream:
    """The red rows so far: 12 periods by number, ε = 0.5, open."""
    return building.open_stream(dataset)
