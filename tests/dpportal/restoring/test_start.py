"""`manage.py portal` recognises by itself that its database was put back, and says what is missing."""

from __future__ import annotations

import pytest

from tests.dpportal.portal_command.starting import Portal, free_port
from tests.dpportal.restoring.conftest import Desk

pytestmark = pytest.mark.worker


@pytest.mark.parametrize("desk", ["embedded"], indirect=True, ids=["SQLite and filesystem"])
def test_the_portal_says_so_at_its_start(desk: Desk) -> None:
    dataset = desk.ask("dataset", "Small table")
    stream = desk.ask("opened", dataset, "binary-tree", "0.5")
    public = desk.ask("drafted", dataset)
    assert desk.ask("confirmed", public) == ""
    assert desk.ask("executed", public)[0] == "ready"
    assert desk.ask("published", public)
    desk.copy_database()
    assert not desk.ask("withdrawn", public, "It names a village")
    release = desk.ask("drafted", dataset)
    assert desk.ask("confirmed", release) == ""
    assert desk.ask("executed", release)[0] == "ready"
    for index in (1, 2):
        desk.ask("publish", stream, index, 5)
    desk.put_back()
    portal = Portal(desk.world.folder / "data", free_port())
    try:
        said = portal.said()
        assert "It lacks these charges:\n  Small table: ε = 0.10, Colours by age" in said
        assert "Closed, since people have seen periods that the restored copy lacks: Red ones so far" in said
        assert "Withdrawn again, since it was withdrawn after the copy was made: Colours by age" in said
        told = portal.health()
        assert not told["ok"] and "restored" in told["troubles"]
    finally:
        portal.end()
    assert desk.ask("stream_state", stream) == ["closed", True, False]
    assert not desk.ask("is_public", public)
