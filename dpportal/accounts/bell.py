"""The bell: how much news there is for whoever signed in. Rooms say what news they have."""

from __future__ import annotations

from collections.abc import Callable

from dpportal.accounts.models import User

NoticeCounter = Callable[[User], int]
_sources: list[NoticeCounter] = []


def add(source: NoticeCounter) -> None:
    """Let a room's news be counted; called once, when the room is made ready."""
    _sources.append(source)


def news(user: User) -> int:
    """What this person has not looked at yet, in all rooms."""
    return sum(source(user) for source in _sources)
