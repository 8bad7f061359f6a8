"""The bell: how much news there is for whoever signed in. Rooms say what news they have besides ended jobs."""

from __future__ import annotations

from collections.abc import Callable

from dpportal.accounts.models import User
from dpportal.running.jobs import announced

Source = Callable[[User], int]
_sources: list[Source] = []


def add(source: Source) -> None:
    """Let a room's news be counted; called once, when the room is made ready."""
    _sources.append(source)


def news(user: User) -> int:
    """What this person has not looked at yet: jobs of theirs that ended, and the news of all rooms."""
    ended = sum(kind.ended(user).filter(seen=False).count() for kind in announced()) if user.is_curator else 0
    return ended + sum(source(user) for source in _sources)
