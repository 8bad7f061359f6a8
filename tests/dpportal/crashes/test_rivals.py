"""Two browsers at the same thing at the same moment: afterwards rows, record, catalogue, files and budget agree."""

import pytest

pytestmark = pytest.mark.worker


def test_publication_and_withdrawal_take_turns(stage):
    assert stage.ask("race_publication") == []


def test_erasing_and_asking_take_turns(stage):
    assert stage.ask("race_erasing") == []
