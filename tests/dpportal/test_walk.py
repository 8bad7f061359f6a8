"""The way of a release through the rooms, from its confirmation to its files, as the map tells it."""

from __future__ import annotations

import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import pytest

from dpportal.releases.execution import RELEASES
from tests.dpportal import building
from tests.dpportal.code_source import ROOT

PORTAL = ROOT / "dpportal"
# Rooms that hear of what happens, by signals and by fields of rows, and that the release itself does not pass.
LISTENING = {"notices", "serving"}
# What waits for its turn in a lower room: kinds of jobs and lines, and checks, that higher rooms register there.
REGISTERED = {
    ("jobs", "releases", "ReleaseJobs.work"),
    ("jobs", "budgets", "obstacle"),
    ("history", "budgets", "_entered"),
    ("history", "budgets", "_settled"),
    ("history", "datasets", "_states"),
    ("platform", "budgets", "with_name"),  # whose own decorator has it said in the site's language
}


class Walk:
    """Which rooms are entered, and where a lower room calls a function of a higher one."""

    def __init__(self) -> None:
        self.rooms: set[str] = set()
        self.climbs: set[tuple[str, str, str]] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        room = _room(frame.f_code)
        if event != "call" or room is None:
            return
        self.rooms.add(room)
        came_from = _room(frame.f_back.f_code) if frame.f_back else None
        if (
            came_from is not None
            and _floors()[came_from] < _floors()[room]
            and not _is_iterated(frame.f_code)
        ):
            self.climbs.add((came_from, room, frame.f_code.co_qualname))


def _room(code: CodeType) -> str | None:
    path = Path(code.co_filename)
    is_loaded = code.co_name == "<module>"
    return path.relative_to(PORTAL).parts[0] if path.is_relative_to(PORTAL) and not is_loaded else None


@cache
def _floors() -> dict[str, int]:
    """The rooms, by how high the contract of imports has them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "rooms")
    return {room: floor for floor, layer in enumerate(reversed(layers)) for room in re.findall(r"\w+", layer)}


def _is_iterated(code: CodeType) -> bool:
    """Whether it gives items one by one to whoever was handed it, as a list would."""
    return code.co_name == "<genexpr>"


@pytest.fixture
def walk(dataset) -> Walk:
    draft, walk = building.complete_draft(dataset), Walk()
    before = sys.getprofile()
    sys.setprofile(walk)
    try:
        building.confirm(draft)
        RELEASES.run(draft.pk)
    finally:
        sys.setprofile(before)
    assert draft.artifacts.exists()
    return walk


@pytest.mark.slow
def test_a_release_passes_twelve_rooms_and_is_never_called_back(walk: Walk) -> None:
    assert walk.rooms - LISTENING == {
        "accounts",  # whether whoever confirmed it may still release
        "approvals",
        "budgets",
        "charts",
        "datasets",
        "history",
        "jobs",
        "platform",
        "publications",
        "releases",
        "tables",
        "value_choices",  # what was paid for values that nobody declared
    }
    closures = {climb for climb in walk.climbs if "<locals>" in climb[2]}
    assert not closures
    assert {
        climb for climb in walk.climbs if climb[1] not in LISTENING and climb[0] not in LISTENING
    } <= REGISTERED
