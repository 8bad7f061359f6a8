"""The acts that may need a second person. Rooms say how theirs are done, and refuse to do them without."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from django.conf import settings
from django.utils.functional import Promise

from dpportal.approvals.models import Approval
from dpportal.platform.two_people import GOES_WITH

_acts: dict[str, Act] = {}
_performed: ContextVar[Approval | None] = ContextVar("the approved act that is done now", default=None)


class OutdatedError(Exception):
    """What was asked for is not possible any more; the message says why. Nothing is done."""


class UnapprovedError(Exception):
    """An act that needs a second person was to be done without."""


@dataclass(frozen=True)
class Act:
    """title: what it is called. perform: does what was asked for, in the name of who asked. Raises OutdatedError.

    rehearse: works out what it would do, and keeps nothing, so that workers begin with what takes long to find.
    """

    kind: str
    title: str | Promise
    perform: Callable[[Approval], None]
    rehearse: Callable[[Approval], None] | None = None


def declare(act: Act) -> None:
    """Called once by the room whose act it is, when it is made ready."""
    _acts[act.kind] = act


def act_of(approval: Approval) -> Act:
    """The act that was asked for."""
    return _acts[approval.kind]


def is_needed(kind: str) -> bool:
    """Whether this site wants a second person for it."""
    return GOES_WITH.get(kind, kind) in settings.TWO_PEOPLE.acts


def require(kind: str, subject: object) -> None:
    """Raises UnapprovedError unless this very act is done because a second person approved it, or needs none."""
    if is_needed(kind) and approval_of(kind, subject) is None:
        raise UnapprovedError(f"This needs a second person's approval: {kind} of {subject}.")


def approval_of(kind: str, subject: object) -> Approval | None:
    """The approval because of which this act is done now; None where it is done without one."""
    approval = _performed.get()
    return approval if approval and (approval.kind, approval.subject) == (kind, str(subject)) else None


@contextmanager
def performing(approval: Approval) -> Iterator[None]:
    """Lets the approved act be done while it is open, in this thread and context. For `services` only."""
    token = _performed.set(approval)
    try:
        yield
    finally:
        _performed.reset(token)
