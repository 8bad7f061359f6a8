"""An open stream."""

import pytest
from django.test import Client

from dpportal.streams.models import Stream
from tests.dpportal.streams import building


@pytest.fixture
def stream(dataset) -> Stream:
    """The red rows so far: 12 periods by number, ε = 0.5, open."""
    return building.open_stream(dataset)


@pytest.fixture
def curious(client: Client, curator) -> Client:
    """The curator's browser."""
    client.force_login(curator)
    return client
