"""Programs of the people of the small world."""

import pytest

from tests.dpportal.api.calling import Program


@pytest.fixture
def program(curator) -> Program:
    """Of the curator, who lets it do everything and spend 1."""
    return Program(curator)


@pytest.fixture
def stranger(other_curator) -> Program:
    """Of another curator."""
    return Program(other_curator)
